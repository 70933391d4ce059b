#!/usr/bin/env bash

set -e

cslc --arch=wse2 ./layout.csl --fabric-dims=13,3 --fabric-offsets=4,1 \
  --params=width:6,sections:4,words:7 \
  -o out --memcpy --channels=1
cs_python run.py --name out
