import { expect, test } from 'bun:test'
import { releaseBuffer } from './release-buffer'

test('a released piece is empty, and so are its views', () => {
  const piece = new Uint8Array(1 << 20)
  const view = piece.subarray(10, 20)
  releaseBuffer(piece)
  expect([piece.byteLength, view.byteLength]).toEqual([0, 0])
})

test('a piece that shares its memory with others is kept', () => {
  const all = new Uint8Array(1 << 20)
  const piece = all.subarray(0, 10)
  releaseBuffer(piece)
  expect([all.byteLength, piece.byteLength]).toEqual([1 << 20, 10])
})
