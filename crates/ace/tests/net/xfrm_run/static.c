/* SPDX-License-Identifier: Apache-2.0
   Speaks XFRM by netlink, and says what it sees. Linked statically: no preload library reaches it. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/xfrm.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call)                                     \
  do {                                                  \
    if ((call) < 0) {                                   \
      printf("%s: %s\n", #call, strerror(errno));       \
      exit(3);                                          \
    }                                                   \
  } while (0)

static struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

static int open_xfrm(void) {
  int s;
  CHECK(s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_XFRM));
  CHECK(bind(s, (void *)&kernel, sizeof kernel));
  return s;
}

/* Adds an SA, by all calls that programs of netlink make. */
static int add(void) {
  int s = open_xfrm(), value = 0, one = 1;
  struct sockaddr_nl from;
  socklen_t length = sizeof from;
  memset(&from, 9, sizeof from);
  CHECK(getsockname(s, (void *)&from, &length));
  printf("name %d %u\n", from.nl_family, length);
  CHECK(connect(s, (void *)&kernel, sizeof kernel));
  length = sizeof value;
  CHECK(getsockopt(s, SOL_SOCKET, SO_DOMAIN, &value, &length));
  printf("domain %d\n", value);
  CHECK(setsockopt(s, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof one));
  CHECK(setsockopt(s, SOL_SOCKET, SO_RCVBUF, &one, sizeof one));
  value = setsockopt(s, SOL_NETLINK, NETLINK_PKTINFO, &one, sizeof one);
  printf("what is not done: %d %s\n", value, strerror(errno));

  struct {
    struct nlmsghdr head;
    struct xfrm_usersa_info info;
    char more[512];
  } ask;
  memset(&ask, 0, sizeof ask);
  ask.head.nlmsg_type = XFRM_MSG_NEWSA;
  ask.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
  ask.head.nlmsg_seq = 77;
  ask.head.nlmsg_len = NLMSG_LENGTH(sizeof ask.info);
  inet_pton(AF_INET, "192.0.2.1", &ask.info.saddr.a4);
  inet_pton(AF_INET, "192.0.2.2", &ask.info.id.daddr.a4);
  ask.info.id.spi = htonl(0x4242);
  ask.info.id.proto = IPPROTO_ESP;
  ask.info.family = AF_INET;
  ask.info.mode = XFRM_MODE_TUNNEL;
  ask.info.replay_window = 32;
  ask.info.lft.soft_byte_limit = ask.info.lft.hard_byte_limit = XFRM_INF;
  ask.info.lft.soft_packet_limit = ask.info.lft.hard_packet_limit = XFRM_INF;
  struct rtattr *attribute = (void *)((char *)&ask + NLMSG_ALIGN(ask.head.nlmsg_len));
  struct xfrm_algo_aead *suite = RTA_DATA(attribute);
  strcpy(suite->alg_name, "rfc4106(gcm(aes))");
  suite->alg_key_len = 160;
  suite->alg_icv_len = 128;
  memset(suite->alg_key, 7, 20);
  attribute->rta_type = XFRMA_ALG_AEAD;
  attribute->rta_len = RTA_LENGTH(sizeof *suite + 20);
  ask.head.nlmsg_len = NLMSG_ALIGN(ask.head.nlmsg_len) + RTA_ALIGN(attribute->rta_len);
  CHECK(sendto(s, &ask, ask.head.nlmsg_len, 0, (void *)&kernel, sizeof kernel));

  struct {
    struct nlmsghdr head;
    struct nlmsgerr error;
    char more[4096];
  } answer;
  struct iovec pieces[2] = {{&answer, 20}, {(char *)&answer + 20, sizeof answer - 20}};
  struct msghdr message = {&from, sizeof from, pieces, 2, NULL, 0, 0};
  ssize_t peeked, got;
  memset(&from, 9, sizeof from);
  CHECK(peeked = recvmsg(s, &message, MSG_PEEK | MSG_TRUNC));
  CHECK(got = recvmsg(s, &message, 0));
  printf("from %d %u %u, %s\n", from.nl_family, from.nl_pid, message.msg_namelen, got == peeked ? "as peeked" : "another");
  printf("answer %d %u %d\n", answer.head.nlmsg_type, answer.head.nlmsg_seq, answer.error.error);
  length = sizeof from;
  got = recvfrom(s, &answer, sizeof answer, MSG_DONTWAIT, (void *)&from, &length);
  printf("nothing more: %zd %s\n", got, strerror(errno));
  struct timeval soon = {0, 50000};
  CHECK(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon));
  got = recv(s, &answer, sizeof answer, 0);
  printf("nor soon: %zd %s\n", got, strerror(errno));
  return answer.error.error ? 4 : 0;
}

static void heard(int signal) { (void)signal; }

/* Waits for a message, twice; a signal comes between. */
static int wait_for(void) {
  int s = open_xfrm();
  char memory[64];
  struct sigaction action = {.sa_handler = heard};
  sigaction(SIGALRM, &action, NULL);
  CHECK(send(s, "first?", 6, 0));
  ssize_t got = recv(s, memory, sizeof memory, 0);
  printf("%zd %.*s\n", got, (int)(got > 0 ? got : 0), memory);
  alarm(1);
  got = recv(s, memory, sizeof memory, 0);
  printf("interrupted: %zd %s\n", got, strerror(errno));
  CHECK(send(s, "second?", 7, 0));
  got = recv(s, memory, sizeof memory, 0);
  printf("%zd %.*s\n", got, (int)(got > 0 ? got : 0), memory);
  CHECK(send(s, "bye", 3, 0));
  got = recv(s, memory, sizeof memory, 0);
  printf("gone: %zd %s\n", got, strerror(errno));
  got = recv(s, memory, sizeof memory, MSG_DONTWAIT);
  printf("then: %zd %s\n", got, strerror(errno));
  return 0;
}

int main(int count, char **arguments) {
  setvbuf(stdout, NULL, _IONBF, 0);
  if (count == 2 && !strcmp(arguments[1], "add")) return add();
  if (count == 2 && !strcmp(arguments[1], "wait")) return wait_for();
  /* After a line of input: whether there is XFRM. */
  if (count == 2 && !strcmp(arguments[1], "later")) getchar();
  int s = socket(AF_NETLINK, SOCK_RAW, NETLINK_XFRM);
  printf("xfrm: %s\n", s < 0 ? strerror(errno) : "a socket");
  s = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
  printf("route: %s\n", s < 0 ? strerror(errno) : "a socket");
  char nothing[120] = {0};
  printf("io_uring: %s\n", syscall(SYS_io_uring_setup, 1, nothing) < 0 ? strerror(errno) : "there");
  return 0;
}
