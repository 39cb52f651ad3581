const dataBytes = 1_000_000
const samplesPerSecond = 8000

const littleEndian = (value: number, bytes: number) =>
  String.fromCharCode(...Array.from({ length: bytes }, (_, at) => (value >> (8 * at)) & 0xff))

/** A WAV file of 125 s with 8 bits a sample. All of its bytes are ASCII, as the load generator sends text. */
export const asciiSound = [
  'RIFF',
  littleEndian(36 + dataBytes, 4),
  'WAVEfmt ',
  littleEndian(16, 4),
  // PCM, one channel.
  littleEndian(1, 2),
  littleEndian(1, 2),
  littleEndian(samplesPerSecond, 4),
  littleEndian(samplesPerSecond, 4),
  littleEndian(1, 2),
  littleEndian(8, 2),
  'data',
  littleEndian(dataBytes, 4),
  's'.repeat(dataBytes),
].join('')
