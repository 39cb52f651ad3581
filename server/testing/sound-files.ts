/** Small files of sound in many containers, made of silence: as long as they say. */

const ascii = (text: string) => Buffer.from(text, 'latin1')

function bytesOf(size: number, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(size)
  write(bytes)
  return bytes
}

const uint32 = (value: number) => bytesOf(4, (bytes) => bytes.writeUInt32BE(value))

/** 16 bits, one channel. */
export function wav(seconds: number, rate = 8000): Buffer {
  const size = Math.round(seconds * rate) * 2
  return bytesOf(44 + size, (bytes) => {
    bytes.write('RIFF', 0)
    bytes.writeUInt32LE(36 + size, 4)
    bytes.write('WAVEfmt ', 8)
    bytes.writeUInt32LE(16, 16)
    bytes.writeUInt16LE(1, 20)
    bytes.writeUInt16LE(1, 22)
    bytes.writeUInt32LE(rate, 24)
    bytes.writeUInt32LE(rate * 2, 28)
    bytes.writeUInt16LE(2, 32)
    bytes.writeUInt16LE(16, 34)
    bytes.write('data', 36)
    bytes.writeUInt32LE(size, 40)
  })
}

/** The index of a bit rate in the head of a frame, and the bytes of that frame. */
const mp3Rates = [
  [0x90, 417],
  [0x50, 208],
  [0xe0, 1044],
] as const

/** Frames of 1,152 samples at 44.1 kHz, of 128 kbit/s or of several bit rates in turn. */
export function mp3(frames: number, rates: 'constant' | 'variable' = 'constant'): Buffer {
  const all = mp3Rates.slice(0, rates === 'constant' ? 1 : undefined).map(([rate, size]) => {
    const frame = Buffer.alloc(size)
    frame.set([0xff, 0xfb, rate, 0xc0])
    return frame
  })
  return Buffer.concat(
    Array.from({ length: frames }, (_, at) => all[at % all.length] ?? Buffer.alloc(0)),
  )
}

/** The header alone, which has the number of samples, and a frame that is none. */
export const flac = (seconds: number, rate = 16_000): Buffer =>
  Buffer.concat([
    ascii('fLaC'),
    Buffer.from([0x80, 0, 0, 34]),
    bytesOf(34, (bytes) => {
      bytes.writeUInt16BE(4096, 0)
      bytes.writeUInt16BE(4096, 2)
      // 20 bits of rate, 3 of channels, 5 of depth, 36 of samples.
      const samples = BigInt(Math.round(seconds * rate))
      bytes.writeBigUInt64BE((BigInt(rate) << 44n) | (15n << 36n) | samples, 10)
    }),
    Buffer.alloc(4096),
  ])

/** Opus: its time is at 48 kHz, whatever the rate of the sound. */
export function ogg(seconds: number): Buffer {
  const head = Buffer.concat([
    ascii('OpusHead'),
    Buffer.from([1, 1, 0, 0, 0x80, 0x3e, 0, 0, 0, 0, 0]),
  ])
  const tags = Buffer.concat([ascii('OpusTags'), Buffer.alloc(8)])
  return Buffer.concat([
    oggPage(2, 0, head),
    oggPage(0, 0, tags),
    ...Array.from({ length: Math.ceil(seconds * 5) }, () => oggPage(0, 0, Buffer.alloc(200))),
    oggPage(4, Math.round(seconds * 48_000), Buffer.alloc(200)),
  ])
}

const pages = { count: 0 }

function oggPage(flags: number, position: number, content: Buffer): Buffer {
  const head = bytesOf(28, (bytes) => {
    bytes.write('OggS', 0)
    bytes[5] = flags
    bytes.writeBigUInt64LE(BigInt(position), 6)
    bytes.writeUInt32LE(7, 14)
    bytes.writeUInt32LE(pages.count++, 18)
    bytes[26] = 1
    bytes[27] = content.length
  })
  return Buffer.concat([head, content])
}

/** One track with its duration, and silence that is none. */
export function mp4(seconds: number): Buffer {
  const rate = 16_000
  const media = box('mdia', [
    box('mdhd', [
      Buffer.alloc(12),
      uint32(rate),
      uint32(Math.round(seconds * rate)),
      Buffer.alloc(4),
    ]),
    box('hdlr', [Buffer.alloc(8), ascii('soun'), Buffer.alloc(16)]),
    box('minf', [
      box('stbl', [
        box('stsd', [uint32(0), uint32(1), soundEntry(rate)]),
        box('stsz', [Buffer.alloc(12)]),
      ]),
    ]),
  ])
  const track = box('trak', [box('tkhd', [Buffer.alloc(12), uint32(1), Buffer.alloc(68)]), media])
  return Buffer.concat([
    box('ftyp', [ascii('M4A '), uint32(0), ascii('M4A isom')]),
    box('moov', [track]),
    box('mdat', [Buffer.alloc(4096)]),
  ])
}

const soundEntry = (rate: number) =>
  box('mp4a', [
    bytesOf(28, (bytes) => {
      bytes.writeUInt16BE(1, 16)
      bytes.writeUInt16BE(16, 18)
      bytes.writeUInt16BE(rate, 24)
    }),
  ])

const box = (type: string, parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  return Buffer.concat([uint32(content.length + 8), ascii(type), content])
}

/** Without `seconds` as browsers record it: the length is not known when its head is written. */
export function webm(seconds?: number): Buffer {
  const duration =
    seconds === undefined
      ? []
      : [
          ebml(
            '4489',
            bytesOf(8, (bytes) => bytes.writeDoubleBE(seconds * 1000)),
          ),
        ]
  const info = ebml('1549a966', Buffer.concat([ebml('2ad7b1', uint32(1_000_000)), ...duration]))
  const entry = Buffer.concat([
    ebml('d7', Buffer.from([1])),
    ebml('83', Buffer.from([2])),
    ebml('86', ascii('A_OPUS')),
    ebml(
      'e1',
      ebml(
        'b5',
        bytesOf(4, (bytes) => bytes.writeFloatBE(48_000)),
      ),
    ),
  ])
  const tracks = ebml('1654ae6b', ebml('ae', entry))
  const type = ebml('1a45dfa3', ebml('4282', ascii('webm')))
  return Buffer.concat([
    type,
    ebml('18538067', Buffer.concat([info, tracks, ebml('ec', Buffer.alloc(3000))])),
  ])
}

const ebml = (id: string, content: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(id, 'hex'),
    bytesOf(8, (bytes) => bytes.writeBigUInt64BE((1n << 56n) | BigInt(content.length))),
    content,
  ])
