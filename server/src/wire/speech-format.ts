/** The formats of a spoken answer. */
export const speechFormats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const
export type SpeechFormat = (typeof speechFormats)[number]

/** The content type of each format. */
export const speechTypes: Readonly<Record<SpeechFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

/** The samples a second of PCM, 16 bits, mono. */
export const usualSampleRate = 24_000
const bytesPerSample = 2

/** Returns the samples a second that a content type such as `audio/L16;rate=24000` names, else the usual number. */
export function readSampleRate(contentType: string): number {
  const rate = Number(/rate=(\d{4,6})/.exec(contentType)?.[1])
  return rate > 0 ? rate : usualSampleRate
}

/** The bytes of a second in each format, as providers usually make it. */
export const bytesPerSecond: Readonly<Record<SpeechFormat, number>> = {
  mp3: 16_000,
  opus: 4000,
  aac: 8000,
  flac: 24_000,
  wav: usualSampleRate * bytesPerSample,
  pcm: usualSampleRate * bytesPerSample,
}

/** Sizes that are unknown before the end, as players of streams accept them. */
const unknownSize = 0xff_ff_ff_ff

/**
 * Returns the header of a WAV file of PCM, 16 bits, mono; without `dataBytes`, of a stream of unknown length.
 * @see http://soundfile.sapp.org/doc/WaveFormat/
 */
export function wavHeader(sampleRate: number, dataBytes?: number): Buffer {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(dataBytes === undefined ? unknownSize : 36 + dataBytes, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(sampleRate * bytesPerSample, 28)
  header.writeUInt16LE(bytesPerSample, 32)
  header.writeUInt16LE(8 * bytesPerSample, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(dataBytes ?? unknownSize, 40)
  return header
}
