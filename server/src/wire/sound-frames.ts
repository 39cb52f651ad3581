import type { SpeechFormat } from './speech-format'

/** A frame of sound, a page of them, or a tag: its bytes, and the milliseconds of its sound. */
export interface SoundFrame {
  bytes: number
  ms: number
}

/**
 * Reads the frame that begins a binary string; null while too little of it has arrived, undefined where none begins.
 * One reader is for one sound.
 */
export type SoundFrameReader = (head: string) => SoundFrame | null | undefined

/** The most that a reader needs: the head of a page with its table of segments. */
export const maxFrameHeadBytes = 27 + 255

/** Starts reading a format; undefined for those that have no frames of their own length. */
export function createFrameReader(format: SpeechFormat): SoundFrameReader | undefined {
  switch (format) {
    case 'mp3':
      return readMp3Frame
    case 'aac':
      return readAdtsFrame
    case 'opus':
      return createOggReader()
    case 'flac':
      return readFlacHead
    default:
      return undefined
  }
}

const tagHeadBytes = 10
const oldTagBytes = 128
/** kbit/s of MPEG 1 and of MPEG 2 and 2.5, Layer III; free and forbidden ones are 0. */
const bitRates1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0]
const bitRates2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]
const sampleRates1 = [44_100, 48_000, 32_000]
/** Of these rates, by the bits of the version: MPEG 2.5, 2 and 1. */
const divisors: Readonly<Record<number, number>> = { 0: 4, 2: 2, 3: 1 }

/** @see http://www.mp3-tech.org/programmer/frame_header.html */
function readMp3Frame(head: string): SoundFrame | null | undefined {
  if (head.length < tagHeadBytes) return null
  if (head.startsWith('ID3')) return { bytes: tagHeadBytes + readTagLength(head), ms: 0 }
  if (head.startsWith('TAG')) return { bytes: oldTagBytes, ms: 0 }
  const [kind, rates] = [head.charCodeAt(1), head.charCodeAt(2)]
  // Layer III, with or without a checksum, of MPEG 1, 2 or 2.5.
  const version = (kind >> 3) & 3
  if (head.charCodeAt(0) !== 0xff || (kind & 0xe6) !== 0xe2 || version === 1) return undefined
  const isFirst = version === 3
  const kilobits = (isFirst ? bitRates1 : bitRates2)[rates >> 4] ?? 0
  const sampleRate = (sampleRates1[(rates >> 2) & 3] ?? 0) / (divisors[version] ?? 1)
  if (kilobits === 0 || sampleRate === 0) return undefined
  const samples = isFirst ? 1152 : 576
  const padding = (rates >> 1) & 1
  const bytes = Math.floor((samples * kilobits * 125) / sampleRate) + padding
  return { bytes, ms: (samples / sampleRate) * 1000 }
}

/** Seven bits of each byte count. @see https://id3.org/id3v2.4.0-structure */
function readTagLength(head: string): number {
  let length = 0
  for (let at = 6; at < tagHeadBytes; at++) length = length * 128 + (head.charCodeAt(at) & 0x7f)
  return length
}

const adtsHeadBytes = 7
const samplesPerBlock = 1024
const aacRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000,
  7350,
]

/** @see https://wiki.multimedia.cx/index.php/ADTS */
function readAdtsFrame(head: string): SoundFrame | null | undefined {
  if (head.length < adtsHeadBytes) return null
  const byteAt = (at: number) => head.charCodeAt(at)
  if (byteAt(0) !== 0xff || (byteAt(1) & 0xf6) !== 0xf0) return undefined
  const sampleRate = aacRates[(byteAt(2) >> 2) & 15]
  const bytes = ((byteAt(3) & 3) << 11) | (byteAt(4) << 3) | (byteAt(5) >> 5)
  if (sampleRate === undefined || bytes < adtsHeadBytes) return undefined
  const blocks = (byteAt(6) & 3) + 1
  return { bytes, ms: ((blocks * samplesPerBlock) / sampleRate) * 1000 }
}

const pageHeadBytes = 27
/** The time of Opus is at 48 kHz, whatever its rate. */
const opusSamplesPerMs = 48
const twoTo32 = 2 ** 32

/** @see https://www.rfc-editor.org/rfc/rfc3533#section-6 */
function createOggReader(): SoundFrameReader {
  let lastMs = 0
  return (head) => {
    if (head.length < pageHeadBytes) return null
    if (!head.startsWith('OggS')) return undefined
    const segments = head.charCodeAt(26)
    if (head.length < pageHeadBytes + segments) return null
    let bytes = pageHeadBytes + segments
    for (let at = pageHeadBytes; at < pageHeadBytes + segments; at++) bytes += head.charCodeAt(at)
    const highBits = readUint32(head, 10)
    // No packet ends on a page whose position is -1.
    const isPosition = highBits < twoTo32 / 2
    const endMs = isPosition ? (highBits * twoTo32 + readUint32(head, 6)) / opusSamplesPerMs : 0
    const ms = Math.max(0, endMs - lastMs)
    lastMs += ms
    return { bytes, ms }
  }
}

const readUint32 = (head: string, at: number): number =>
  head.charCodeAt(at) +
  head.charCodeAt(at + 1) * 256 +
  head.charCodeAt(at + 2) * 65_536 +
  head.charCodeAt(at + 3) * 16_777_216

const flacHeadBytes = 26

/**
 * The head of FLAC has the length of all of the sound, where its encoder knew it.
 * @see https://www.rfc-editor.org/rfc/rfc9639#section-8.2
 */
function readFlacHead(head: string): SoundFrame | null | undefined {
  if (head.length < flacHeadBytes) return null
  if (!head.startsWith('fLaC')) return undefined
  const byteAt = (at: number) => head.charCodeAt(at)
  const sampleRate = byteAt(18) * 4096 + byteAt(19) * 16 + (byteAt(20) >> 4)
  const lowBits = byteAt(22) * 16_777_216 + byteAt(23) * 65_536 + byteAt(24) * 256 + byteAt(25)
  const samples = (byteAt(21) & 15) * twoTo32 + lowBits
  if (sampleRate === 0 || samples === 0) return undefined
  return { bytes: Infinity, ms: (samples / sampleRate) * 1000 }
}
