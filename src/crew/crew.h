// Supervised children: the one mechanism for whatever may crash, hang or lose its device. A child
// is a program of its own, started by exec (this program again, or a foreign peer) and spoken to in
// lines of JSON.
//
//   parent                                           child
//   Child child("cpu", command);                     int main() { serve(handler); }
//   Json value = child.request(message, limits)  ->  handler(message, send) returns a Json
//
// On the wire, one JSON object a line:
//   to the child    the request, on its standard input
//   to the parent   {"type":"heartbeat"}             own children only, while a request is answered
//                   {"type":ANYTHING_ELSE, ...}      news, handed on as it comes
//                   {"type":"done","value":...}      the answer, or
//                   {"type":"error","kind":"usage|unsupported|device_lost|error","what","hint"}
//
// A child of our own answers on a descriptor of its own, so that a vendor's library that prints
// can't break the protocol; a foreign peer answers on its standard output.
//
// No process outlives its use: each child leads a process group that ends with it, and a guard ends
// the group when this process dies, by whatever cause. A process that leaves its group is not held.
#pragma once

#include "crew/child.h"
#include "crew/ending.h"
#include "crew/serve.h"
