#!/usr/bin/env bash

set -e

cslc --arch=wse2 ./layout.csl --fabric-dims=10,3 --fabric-offsets=4,1 \
  --params=width:3,words:48,MEMCPYH2D_DATA_1_ID:0,MEMCPYD2H_DATA_1_ID:1 \
  -o out --memcpy --channels=1
cs_python run.py --name out
