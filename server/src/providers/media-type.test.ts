import { expect, test } from 'bun:test'
import { detectMediaType } from './media-type'

const bytes = (text: string) => Buffer.from(text, 'latin1')

test.each([
  ['image/png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'],
  ['image/jpeg', '\xff\xd8\xff\xe0\0\x10JFIF'],
  ['image/gif', 'GIF87a..'],
  ['image/gif', 'GIF89a..'],
  ['image/webp', 'RIFF\x24\0\0\0WEBPVP8 '],
  ['application/pdf', '%PDF-1.7\n'],
  ['image/heic', '\0\0\0\x18ftypheic'],
  ['image/heif', '\0\0\0\x18ftypmif1'],
  ['image/avif', '\0\0\0\x1cftypavif'],
])('%s is known by how it begins', (type, text) => {
  expect(detectMediaType(bytes(text))).toBe(type)
})

test.each([
  '',
  '\x89PNG',
  '<svg xmlns="http://www.w3.org/2000/svg"/>',
  '<!doctype html><title>Sign in</title>',
  'RIFF\x24\0\0\0WAVEfmt ',
  '\0\0\0\x18ftypisom',
  ' %PDF-1.7',
  '{"secret": "value"}',
])('%p is neither an image nor a PDF', (text) => {
  expect(detectMediaType(bytes(text))).toBeUndefined()
})
