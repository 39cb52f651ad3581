import { requireModel } from './models'
import { SandboxTranscriptionRequest, parse } from './request'
import { toDiarizedJson, toVerboseJson, type TimedText } from '../../wire/transcript'

const sentences = ({ name, bytes }: { name: string; bytes: number }, seconds: number) => [
  'This is a simulated transcript.',
  `The file ${name} has ${bytes} bytes and about ${seconds} seconds of sound.`,
  'No model has heard it.',
]

/** `POST /audio/transcriptions` and `/audio/translations`: sentences about the file, spread over its time. */
export function answerTranscription(body: unknown, task: 'transcribe' | 'translate'): Response {
  const { model, file, seconds, response_format: format } = parse(SandboxTranscriptionRequest, body)
  requireModel(model, 'transcription')
  const texts = sentences(file, seconds)
  const length = texts.join('').length
  let at = 0
  const segments = texts.map((text): TimedText => {
    const start = at
    at += (text.length / length) * seconds
    return { text, start: round(start), end: round(at), speaker: 'A' }
  })
  const transcript = {
    text: texts.join(' '),
    language: 'english',
    duration: seconds,
    words: segments,
    segments,
  }
  const usage = { type: 'duration', seconds: Math.ceil(seconds) }
  const options = { task, words: false, segments: true }
  if (format === 'diarized_json') return Response.json({ ...toDiarizedJson(transcript), usage })
  if (format === 'verbose_json')
    return Response.json({ ...toVerboseJson(transcript, options), usage })
  return Response.json({ text: transcript.text, usage })
}

const round = (seconds: number) => Math.round(seconds * 1000) / 1000
