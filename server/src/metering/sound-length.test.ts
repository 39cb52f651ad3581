import { afterAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measureSound } from './sound-length'
import { flac, mp3, mp4, ogg, wav, webm } from '../../testing/sound-files'

const directory = await mkdtemp(join(tmpdir(), 'sound-'))
afterAll(() => rm(directory, { recursive: true }))

async function measure(content: Uint8Array) {
  const path = join(directory, crypto.randomUUID())
  await writeFile(path, content)
  return measureSound({ path, bytes: content.byteLength })
}

test.each([
  ['WAV', wav(12.5), 12_500],
  ['MP3', mp3(1000), 26_123],
  ['MP3 of several bit rates, frame by frame', mp3(3000, 'variable'), 78_368],
  ['FLAC', flac(3.25), 3250],
  ['Ogg', ogg(4), 4000],
  ['MP4', mp4(4.5), 4500],
  ['WebM', webm(2.75), 2750],
])('the length of %s is read from its container', async (_name, content, ms) => {
  expect(await measure(content)).toEqual({ ms, isMeasured: true })
})

test.each([
  ['a recording of a browser, which has no length', webm()],
  ['no sound at all', Buffer.alloc(3000, 'text ')],
  ['a header that is cut', wav(1).subarray(0, 20)],
  ['a container that claims years', mp4(100_000)],
  ['an empty one', Buffer.alloc(0)],
])('%s is bounded by its size', async (_name, content) => {
  const ms = Math.ceil((content.byteLength * 1000) / 750)
  expect(await measure(content)).toEqual({ ms, isMeasured: false })
})

test('tags larger than the bound are not read into memory: the size bounds the length', async () => {
  const tag = Buffer.alloc(10 << 20)
  tag.write('ID3\u0003\u0000\u0000', 0, 'latin1')
  const size = tag.length - 10
  for (let at = 0; at < 4; at += 1) tag[6 + at] = (size >> (7 * (3 - at))) & 0x7f
  expect(await measure(Buffer.concat([tag, mp3(10)]))).toMatchObject({ isMeasured: false })
})

test('many at once are all measured', async () => {
  const lengths = await Promise.all(Array.from({ length: 20 }, () => measure(wav(2))))
  expect(new Set(lengths.map(({ ms }) => ms))).toEqual(new Set([2000]))
})
