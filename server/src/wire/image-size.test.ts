import { expect, test } from 'bun:test'
import { readImageSize } from './image-size'
import { drawPng } from '../providers/sandbox/image'

const webp = (kind: string, fields: (bytes: Buffer) => void): string => {
  const bytes = Buffer.alloc(40)
  bytes.write('RIFF', 0, 'latin1')
  bytes.write(`WEBP${kind}`, 8, 'latin1')
  fields(bytes)
  return bytes.toString('base64')
}

const jpeg = (): string => {
  const head = Buffer.from('ffd8ffe00010', 'hex')
  const frame = Buffer.from('ffc000110801f40258', 'hex')
  return Buffer.concat([head, Buffer.alloc(14), frame, Buffer.alloc(20)]).toString('base64')
}

test.each([
  ['PNG', drawPng({ width: 320, height: 200, seed: 1 }).toString('base64'), [320, 200]],
  ['JPEG', jpeg(), [600, 500]],
  [
    'extended WebP',
    webp('VP8X', (bytes) => {
      bytes.writeUIntLE(639, 24, 3)
      bytes.writeUIntLE(479, 27, 3)
    }),
    [640, 480],
  ],
  [
    'lossless WebP',
    webp('VP8L', (bytes) => bytes.writeUInt32LE(639 | (479 << 14), 21)),
    [640, 480],
  ],
  [
    'lossy WebP',
    webp('VP8 ', (bytes) => {
      bytes.writeUInt16LE(640, 26)
      bytes.writeUInt16LE(480, 28)
    }),
    [640, 480],
  ],
])('the size of a %s image', (_format, data, [width = 0, height = 0]) => {
  expect(readImageSize(data)).toEqual({ width, height })
})

test.each([
  '',
  'AAAA',
  'not base64 at all, and no image',
  Buffer.from('ffd8ff', 'hex').toString('base64'),
  '/9j/'.repeat(50),
])('other data has none: %p', (data) => {
  expect(readImageSize(data)).toBeUndefined()
})
