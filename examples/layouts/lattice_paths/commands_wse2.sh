#!/usr/bin/env bash

set -e

cs_python run.py --arch=wse2
