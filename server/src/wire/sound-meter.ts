import { createFrameReader, maxFrameHeadBytes, type SoundFrameReader } from './sound-frames'
import { bytesPerSecond, type SpeechFormat } from './speech-format'

const wavHeaderBytes = 44
const wavRateAt = 28

/**
 * Measures sound as it passes, given as binary strings: by its frames, by the rate in the header of WAV, and by the
 * usual rate of its format where it has neither.
 */
export class SoundMeter {
  readonly #format: SpeechFormat
  readonly #readFrame: SoundFrameReader | undefined
  #bytes = 0
  /** The beginning of a frame, or of the file, that is not whole yet. */
  #head = ''
  /** Bytes until the next frame begins. */
  #skippedBytes = 0
  #framesMs = 0
  /** The bytes in these frames, once something else has followed them. */
  #framesBytes: number | undefined

  constructor(format: SpeechFormat) {
    this.#format = format
    this.#readFrame = createFrameReader(format)
    if (!this.#readFrame) this.#framesBytes = 0
  }

  add(sound: string): void {
    if (this.#framesBytes === undefined) this.#walk(sound)
    else if (this.#format === 'wav' && this.#head.length < wavHeaderBytes)
      this.#head += sound.slice(0, wavHeaderBytes - this.#head.length)
    this.#bytes += sound.length
  }

  #walk(sound: string): void {
    const text = this.#head + sound
    const startedAt = this.#bytes - this.#head.length
    let at = this.#skippedBytes
    this.#head = ''
    while (at < text.length) {
      const frame = this.#readFrame?.(text.slice(at, at + maxFrameHeadBytes))
      if (frame === null) {
        this.#head = text.slice(at)
        break
      }
      if (!frame) {
        this.#framesBytes = startedAt + at
        break
      }
      this.#framesMs += frame.ms
      at += frame.bytes
    }
    this.#skippedBytes = Math.max(0, at - text.length)
  }

  /** Milliseconds so far. */
  get ms(): number {
    if (this.#framesBytes === undefined && this.#framesMs > 0) return Math.round(this.#framesMs)
    const restBytes = this.#bytes - (this.#framesBytes ?? 0)
    return Math.round(this.#framesMs + this.#lastOf(restBytes))
  }

  /** The milliseconds of so many bytes without frames. */
  #lastOf(bytes: number): number {
    const wavRate = readWavRate(this.#head)
    if (this.#format === 'wav' && wavRate > 0)
      return (Math.max(0, bytes - wavHeaderBytes) / wavRate) * 1000
    return (bytes / bytesPerSecond[this.#format]) * 1000
  }
}

/** Reads the bytes of a second from a header; 0 where it does not say. */
function readWavRate(head: string): number {
  if (head.length < wavHeaderBytes || !head.startsWith('RIFF')) return 0
  return Buffer.from(head, 'latin1').readUInt32LE(wavRateAt)
}
