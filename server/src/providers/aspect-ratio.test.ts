import { expect, test } from 'bun:test'
import { toAspectRatio, toSizeClass } from './aspect-ratio'

const ratios = ['1:1', '3:4', '4:3', '9:16', '16:9']

test.each([
  ['1024x1024', '1:1', '1K'],
  ['1024x1536', '3:4', '1K'],
  ['1792x1024', '16:9', '2K'],
  ['2048x2048', '1:1', '2K'],
  ['4096x4096', '1:1', '4K'],
  ['16x8192', '9:16', '1K'],
] as const)('%s is nearest to %s in %s', (size, ratio, sizeClass) => {
  expect([toAspectRatio(size, ratios), toSizeClass(size)]).toEqual([ratio, sizeClass])
})

test.each(['auto', undefined, null])('%p leaves both to the model', (size) => {
  expect([toAspectRatio(size, ratios), toSizeClass(size)]).toEqual([undefined, undefined])
})
