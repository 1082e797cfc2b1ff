#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts ace and what it looks for below a prefix. Arguments: the prefix; the binary (built as the user who builds, so
# that root builds nothing); optional, the folder that stands for / while a package is made (DESTDIR). MODELS=array takes of what
# was built the model of the array's slot alone.
set -euo pipefail
where=$1 ace=$2
case $where in /*) ;; *) where=$PWD/$where ;; esac
prefix=${3:-}$where
[ -x "$ace" ] || { echo "$ace is not built: run make all first" >&2; exit 1; }
install -D -m 755 "$ace" "$prefix/bin/ace"
[ ! -e library/ace.lib ] || install -D -m 644 library/ace.lib "$prefix/share/ace/library/ace.lib"
"${PYTHON:-python3}" scripts/install_docs.py "$prefix/share/doc/ace"
install -D -m 644 -t "$prefix/share/doc/ace/examples" crates/ace-gateway/examples/*.toml
for shell in libace_xfrm.so libace_provider.so; do
  shell=$(dirname "$ace")/$shell
  [ ! -e "$shell" ] || install -D -m 644 -t "$prefix/lib/ace" "$shell"
done
install -d "$prefix/lib/systemd/system"
# The unit starts the ace that was installed with it.
sed "s|^ExecStart=/usr/bin/ace |ExecStart=$where/bin/ace |" crates/ace-gateway/ace-gateway.service \
  >"$prefix/lib/systemd/system/ace-gateway.service"
chmod 644 "$prefix/lib/systemd/system/ace-gateway.service"
"$ace" manual "$prefix"
# Of a configuration what loads and runs it: the rest is for those who make them.
count=0
for manifest in build/configurations/*/manifest.json; do
  [ -e "$manifest" ] && [ "${MODELS:-}" != array ] || continue
  from=$(dirname "$manifest")
  to=$prefix/lib/ace/configurations/$(basename "$from")
  install -D -m 644 -t "$to" "$from"/manifest.json
  for file in "$from"/*.bit "$from"/proof.json "$from"/lib*.so; do
    case $file in
      *_netlist.so) ;;
      *) [ ! -e "$file" ] || install -m 644 -t "$to" "$file" ;;
    esac
  done
  count=$((count + 1))
done
# What runs the library's context sets.
for file in build/array/slot.so build/array/slot.model.json; do
  [ ! -e "$file" ] || install -D -m 644 -t "$prefix/lib/ace/array" "$file"
done
[ -e build/array/slot.so ] || echo "no model of the array's slot is built yet: ace array build, then install again" >&2
echo "ace in $prefix/bin, $count configurations with models in $prefix/lib/ace"
[ "$count" -gt 0 ] || [ "${MODELS:-}" = array ] || echo "no models are built yet: make models, then install again" >&2
