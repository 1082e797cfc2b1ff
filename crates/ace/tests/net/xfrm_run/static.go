// SPDX-License-Identifier: Apache-2.0

// Asks XFRM how many SAs there are. Go calls the kernel itself: no preload library reaches it.
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
)

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
}

func main() {
	s, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, 6)
	check(err)
	kernel := &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}
	check(syscall.Bind(s, kernel))
	name, err := syscall.Getsockname(s)
	check(err)
	fmt.Printf("%T\n", name)
	ask := make([]byte, 20)
	binary.LittleEndian.PutUint32(ask[0:], 20)
	binary.LittleEndian.PutUint16(ask[4:], 0x23) // XFRM_MSG_GETSADINFO
	binary.LittleEndian.PutUint16(ask[6:], 1)
	binary.LittleEndian.PutUint32(ask[16:], 0xffffffff)
	check(syscall.Sendto(s, ask, 0, kernel))
	answer := make([]byte, 4096)
	n, from, err := syscall.Recvfrom(s, answer, 0)
	check(err)
	fmt.Printf("%T %v %d\n", from, n > 16, binary.LittleEndian.Uint16(answer[4:]))
}
