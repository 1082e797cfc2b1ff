#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a release stands on, as CycloneDX: the crates in the programs, and the packages of the flow. Arguments: a Python with
# cyclonedx-bom, the version, and the folder that it goes to. cargo-cyclonedx is compiled once, in build/release/tools.
set -euo pipefail
tools=$1 version=$2 dist=$3 work=build/release
wanted=0.5.9
if [ "$("$work/tools/bin/cargo-cyclonedx" cyclonedx --version 2>/dev/null | grep -o '[0-9.]*$')" != "$wanted" ]; then
  echo "    cargo-cyclonedx $wanted is compiled (minutes, once)"
  env -u RUSTC_WRAPPER -u CARGO_TARGET_DIR cargo install --quiet --locked --root "$work/tools" "cargo-cyclonedx@$wanted"
fi
# It writes beside the manifest of each crate.
source=$PWD/$work/source
(cd "$source" && PATH=$OLDPWD/$work/tools/bin:$PATH cargo cyclonedx --manifest-path crates/ace/Cargo.toml --format json --spec-version 1.5 --quiet)
"$tools" - "$source/crates/ace/ace.cdx.json" "$source" "$dist/ace-$version.cdx.json" <<'END'
import json, sys
file, folder, out = sys.argv[1:]
# Crates of the workspace are named by the folder that they were read in.
text = open(file).read().replace(folder, "/ace")
value = json.loads(text)
value.pop("serialNumber", None)
open(out, "w").write(json.dumps(value, indent=1, sort_keys=True) + "\n")
END
"$tools" -m cyclonedx_py requirements flow/requirements.txt --output-reproducible --of JSON -o "$dist/ace-$version-flow.cdx.json"
