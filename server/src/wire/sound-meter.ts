import { bytesPerSecond, type SpeechFormat } from './speech-format'

/** Bytes kept of the beginning: a tag without a picture, and the first frame behind it. */
const maxHeadBytes = 4096
const wavHeaderBytes = 44
/** kbit/s of MPEG 1 and of MPEG 2 and 2.5, Layer III, by their index in a frame's header. */
const rates1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const rates2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]

/**
 * Measures sound as it passes, given as binary strings: by the rate in the header of WAV and MP3, which is constant,
 * and by the usual rate of every other format.
 */
export class SoundMeter {
  readonly #format: SpeechFormat
  #head = ''
  #bytes = 0

  constructor(format: SpeechFormat) {
    this.#format = format
  }

  add(sound: string): void {
    if (this.#head.length < maxHeadBytes)
      this.#head += sound.slice(0, maxHeadBytes - this.#head.length)
    this.#bytes += sound.length
  }

  /** Milliseconds so far, rounded up. */
  get ms(): number {
    const format = this.#format
    const bytes = this.#head.startsWith('RIFF') ? this.#bytes - wavHeaderBytes : this.#bytes
    const rate = readBytesPerSecond(this.#head, format) ?? bytesPerSecond[format]
    return Math.ceil((Math.max(0, bytes) / rate) * 1000)
  }
}

/** Reads the bytes of a second; undefined where the beginning does not say. */
function readBytesPerSecond(head: string, format: SpeechFormat): number | undefined {
  const bytes = Buffer.from(head, 'latin1')
  if (format === 'mp3') return readMp3Rate(bytes)
  if (format !== 'wav' || bytes.length < wavHeaderBytes || !head.startsWith('RIFF'))
    return undefined
  return bytes.readUInt32LE(28) || undefined
}

/** @see http://www.mp3-tech.org/programmer/frame_header.html */
function readMp3Rate(bytes: Buffer): number | undefined {
  const at = bytes.toString('latin1', 0, 3) === 'ID3' ? 10 + readTagLength(bytes) : 0
  const [sync = 0, kind = 0, rate = 0] = bytes.subarray(at, at + 3)
  const isLayer3 = sync === 0xff && (kind & 0xe6) === 0xe2
  if (!isLayer3) return undefined
  const isFirstVersion = (kind & 0x18) === 0x18
  const kilobits = (isFirstVersion ? rates1 : rates2)[rate >> 4]
  return kilobits ? kilobits * 125 : undefined
}

/** Seven bits of each byte count. @see https://id3.org/id3v2.4.0-structure */
const readTagLength = (bytes: Buffer): number =>
  [...bytes.subarray(6, 10)].reduce((length, byte) => length * 128 + (byte & 0x7f), 0)
