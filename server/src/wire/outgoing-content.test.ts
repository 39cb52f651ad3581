import { expect, test } from 'bun:test'
import { toJsonWithFile, type OutgoingFile } from './outgoing-content'

/** A file whose pieces have these lengths, of bytes that count up. */
const fileOf = (...lengths: number[]): OutgoingFile => {
  const bytes = lengths.reduce((sum, length) => sum + length, 0)
  const content = Buffer.from(Array.from({ length: bytes }, (_, index) => index % 256))
  return {
    name: 'a.wav',
    type: 'audio/wav',
    bytes,
    async *read() {
      let at = 0
      for (const length of lengths) yield content.subarray(at, (at += length))
    },
  }
}

const toQuoting = (data: string) => ({ parts: [{ data }], name: 'ä "quoted"' })
const toKeywords = (data: string) => ({ keywords: ['\u{0}file\u{0}', 'file', '"'], data })

const readAll = async (pieces: AsyncIterable<Uint8Array>): Promise<string> => {
  const parts: Uint8Array[] = []
  for await (const piece of pieces) parts.push(piece)
  return Buffer.concat(parts).toString()
}

test.each([[], [1], [2], [3], [1, 1, 1], [4, 5], [65_536, 65_536, 7], [0, 2, 0]])(
  'a file in pieces of %j bytes is base64 in a JSON body of the stated length',
  async (...lengths) => {
    const file = fileOf(...lengths)
    const content = toJsonWithFile(toQuoting, file)
    const text = await readAll(content.read())
    expect(Buffer.byteLength(text)).toBe(content.bytes)
    const expected = Buffer.from(Array.from({ length: file.bytes }, (_, index) => index % 256))
    expect(JSON.parse(text)).toEqual(toQuoting(expected.toString('base64')))
    expect(content.type).toBe('application/json')
  },
)

test('texts of the client beside it stay as they are', async () => {
  const text = await readAll(toJsonWithFile(toKeywords, fileOf(3)).read())
  expect(JSON.parse(text)).toEqual(toKeywords('AAEC'))
})
