# pyright: strict
"""What type checkers find: in lines marked ``# wrong`` an error of mypy and one of pyright."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import gpubcast as gb

x: NDArray[np.float32] = np.ones((2, 3), np.float32)
a = gb.array(x)

gb.add(x, x).numpy()  # wrong: attr-defined reportAttributeAccessIssue
gb.add(a, x).cumsum()  # wrong: attr-defined reportAttributeAccessIssue
(a + 1).cumsum()  # wrong: attr-defined reportAttributeAccessIssue
gb.exp(x, out=a).cumsum()  # wrong: attr-defined reportAttributeAccessIssue
gb.add(x, x, out="text")  # wrong: call-overload reportCallIssue
gb.add("text", x)  # wrong: call-overload reportCallIssue
gb.add(x, x, axis=1)  # wrong: call-overload reportCallIssue
gb.compare(x, x)  # wrong: call-overload reportCallIssue
gb.broadcast(x, 3)  # wrong: call-overload reportCallIssue
gb.exp(x, out=a, out_layout=gb.Layout((0, 1)))  # wrong: call-overload reportCallIssue
gb.iota("f32", "3")  # wrong: call-overload reportArgumentType
gb.full("f32[2]", 1.0, device=0)  # wrong: arg-type reportArgumentType
gb.fuse(3)  # wrong: call-overload reportCallIssue

print(a + "text")  # wrong: operator reportOperatorIssue
print("text" - a)  # wrong: operator reportOperatorIssue
print(a < None)  # wrong: operator reportOperatorIssue
print(a // 2)  # wrong: operator reportOperatorIssue
print(a @ a)  # wrong: operator reportOperatorIssue
print(a + {"x": 1})  # wrong: operator reportOperatorIssue
gb.subtract(a, a)  # wrong: attr-defined reportAttributeAccessIssue
gb.compare(a, a, direction="lt")  # wrong: call-overload reportCallIssue
gb.compare(x, x, direction="<")  # wrong: call-overload reportCallIssue
gb.round(a, method="up")  # wrong: call-overload reportCallIssue
gb.convert_element_type(a, "f99")  # wrong: call-overload reportCallIssue
gb.convert_element_type(a, to="f4")  # wrong: call-overload reportCallIssue
gb.convert_element_type(a, str)  # wrong: arg-type reportCallIssue
gb.iota("float", 3)  # wrong: call-overload reportArgumentType
gb.plan("subtract", "f32[2]", "f32[2]")  # wrong: arg-type reportArgumentType
gb.plan("add", (2, 3), (2, 3))  # wrong: arg-type reportArgumentType
gb.infer_shape("plus", "f32[2]", "f32[2]")  # wrong: arg-type reportArgumentType
gb.plan(input(), "f32[2]")  # wrong: arg-type reportArgumentType
gb.nn.softmax()  # wrong: call-overload reportCallIssue
gb.nn.softmax(a, epsilon=1.0)  # wrong: call-overload reportCallIssue
print(gb.nn.softmax(x).xla_shape)  # wrong: attr-defined reportAttributeAccessIssue
gb.nn.swish(a)  # wrong: attr-defined reportAttributeAccessIssue
gb.reduce_sum(a, 1.5)  # wrong: call-overload reportCallIssue
gb.select(a > 0, a)  # wrong: call-overload reportCallIssue
gb.exp(None)  # wrong: call-overload reportCallIssue


@gb.fuse
def halved(x: gb.Array) -> gb.Array:
    return gb.div(x, 2.0)


halved()  # wrong: call-overload reportCallIssue
halved(a).cumsum()  # wrong: attr-defined reportAttributeAccessIssue
halved("text")  # wrong: call-overload reportArgumentType
halved(a, a)  # wrong: call-overload reportCallIssue
halved(y=a)  # wrong: call-overload reportCallIssue
halved(a, out="text")  # wrong: call-overload reportArgumentType
halved(a, out_layout=3)  # wrong: call-overload reportArgumentType
gb.fuse("a -> a", valid="n")  # wrong: call-overload reportArgumentType
gb.fuse("(a b) -> a b", sizes={"a": 2.5})  # wrong: dict-item reportArgumentType
halved.plans(a)  # wrong: attr-defined reportAttributeAccessIssue


@gb.fuse("r c -> r c")
def doubled(x: NDArray[Any]) -> gb.Array:
    return gb.add(x, x)  # wrong: return-value reportReturnType


class Model:
    @gb.fuse
    def scale(self, x: gb.Array) -> gb.Array:
        return x * 2.0


Model().scale(a)  # wrong: call-overload reportCallIssue
