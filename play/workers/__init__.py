"""Workers: threads, processes, or the machines of a cluster, and what is sent to them."""

from play.workers.workers import Workers as Workers
from play.workers.workers import parse_backend as parse_backend
