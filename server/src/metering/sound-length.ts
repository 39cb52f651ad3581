import { parseFromTokenizer } from 'music-metadata'
import { SoundFile } from './sound-file'
import type { SoundLength, UploadedFile } from '../wire/uploaded-file'

/** Below the lowest bit rate in use for speech, 6 kbit/s of Opus: a second has at least so many bytes. */
const minBytesPerSecond = 750
/** The highest bit rate of MP3: a header that claims less sound than the bytes can hold is not believed. */
const maxMp3BytesPerSecond = 40_000
/** A container that takes longer to read says nothing. */
const maxMs = 10_000
/** The files that are measured at the same time, which bounds the memory of their tags. */
const maxConcurrent = 4

const waiting: (() => void)[] = []
const running = { count: 0 }

/** Reads the duration from the container of a file: Ogg, MP3, MP4, WAV, WebM, FLAC and others. Never rejects. */
export async function measureSound(
  file: Pick<UploadedFile, 'path' | 'bytes'>,
): Promise<SoundLength> {
  const bySize = Math.ceil((file.bytes / minBytesPerSecond) * 1000)
  const ms = await inTurn(() => readDuration(file).catch(() => undefined))
  // A container of hardly any bytes may claim years.
  return ms === undefined || ms > bySize
    ? { ms: bySize, isMeasured: false }
    : { ms, isMeasured: true }
}

async function readDuration({
  path,
  bytes,
}: Pick<UploadedFile, 'path' | 'bytes'>): Promise<number | undefined> {
  const source = await SoundFile.open(path, bytes, maxMs)
  try {
    // The path has no extension: the format is that of the content.
    const { format } = await parseFromTokenizer(source, { duration: true, skipCovers: true })
    const { duration = 0, codec = '' } = format
    if (!Number.isFinite(duration) || duration <= 0) return undefined
    const leastSeconds = /^MPEG .*Layer 3/.test(codec) ? bytes / maxMp3BytesPerSecond : 0
    return Math.ceil(Math.max(duration, leastSeconds) * 1000)
  } finally {
    await source.close().catch(() => undefined)
  }
}

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running.count >= maxConcurrent)
    await new Promise<void>((resolve) => void waiting.push(resolve))
  running.count += 1
  try {
    return await work()
  } finally {
    running.count -= 1
    waiting.shift()?.()
  }
}
