import { requireModel } from './models'
import { SandboxSpeechRequest, parse } from './request'
import { speechTypes, usualSampleRate, wavHeader } from '../../wire/speech-format'

const secondsPerCharacter = 0.06
/** Quiet enough for headphones. */
const amplitude = 4000
const lowestHertz = 220
/** Semitones above the lowest, of a scale in which all sounds well. */
const scale = [0, 3, 5, 7, 10, 12, 15, 17]
const samplesPerPiece = 8192

const frequencyOf = (character: string): number => {
  const step = scale[(character.codePointAt(0) ?? 0) % scale.length] ?? 0
  return lowestHertz * 2 ** (step / 12)
}

/** Writes so many samples of the tones of a text, from one sample on. Blanks are silent. */
function toPiece(
  characters: readonly string[],
  samplesPerTone: number,
  { start, count }: { start: number; count: number },
): Buffer {
  const piece = Buffer.alloc(count * 2)
  for (let at = 0; at < count; at += 1) {
    const sample = start + at
    const character = characters[Math.floor(sample / samplesPerTone)] ?? ' '
    if (/\s/.test(character)) continue
    // Each tone begins and ends in silence, without a click.
    const place = (sample % samplesPerTone) / samplesPerTone
    const loudness = amplitude * Math.sin(Math.PI * place)
    const phase = (2 * Math.PI * frequencyOf(character) * sample) / usualSampleRate
    piece.writeInt16LE(Math.round(loudness * Math.sin(phase)), at * 2)
  }
  return piece
}

/** `POST /audio/speech`: a tone for each character, made as it is read. Throws `Refusal`. */
export function answerSpeech(body: unknown): Response {
  const {
    model,
    input,
    speed,
    response_format: requestedFormat,
  } = parse(SandboxSpeechRequest, body)
  requireModel(model, 'speech')
  const format = requestedFormat ?? 'wav'
  const characters = Array.from(input)
  const samplesPerTone = Math.round((secondsPerCharacter * usualSampleRate) / (speed ?? 1))
  const samples = characters.length * samplesPerTone
  let start = 0
  const sound = new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (format === 'wav') controller.enqueue(wavHeader(usualSampleRate, samples * 2))
    },
    pull: (controller) => {
      const count = Math.min(samplesPerPiece, samples - start)
      if (count > 0) controller.enqueue(toPiece(characters, samplesPerTone, { start, count }))
      start += count
      if (start >= samples) controller.close()
    },
  })
  return new Response(sound, { headers: { 'content-type': speechTypes[format] } })
}
