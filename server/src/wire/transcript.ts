import type { JsonObject } from './json-body'

/** A piece of a transcript; times are seconds. */
export interface TimedText {
  text: string
  start: number
  end: number
  speaker?: string | undefined
}

/** The text of a file, as any provider reports it. */
export interface Transcript {
  text: string
  language?: string | undefined
  /** Seconds. */
  duration?: number | undefined
  words: readonly TimedText[]
  /** Sentences or turns; made of the words where the provider has none. */
  segments: readonly TimedText[]
}

export const transcriptFormats = [
  'json',
  'text',
  'srt',
  'verbose_json',
  'vtt',
  'diarized_json',
] as const
export type TranscriptFormat = (typeof transcriptFormats)[number]

/** Whether a transcript in this format has times. */
export const hasTimes = (format: TranscriptFormat): boolean =>
  format !== 'json' && format !== 'text'

/** The longest cue of words that have no segments of their own: two lines of subtitles, and the time to read them. */
const maxCueLength = 84
const maxCueSeconds = 7
const sentenceEnd = /[.!?…。！？]["')\]]*$/

/** Groups words to segments: by sentence, by speaker, and as long as a subtitle can be. */
export function toSegments(words: readonly TimedText[]): TimedText[] {
  const segments: TimedText[] = []
  let isOpen = false
  for (const word of words) {
    const last = segments.at(-1)
    const fits =
      isOpen &&
      last !== undefined &&
      last.speaker === word.speaker &&
      last.text.length + word.text.length < maxCueLength &&
      word.end - last.start <= maxCueSeconds
    if (last && fits) segments[segments.length - 1] = joinWord(last, word)
    else segments.push({ ...word })
    isOpen = !sentenceEnd.test(word.text)
  }
  return segments
}

const joinWord = (segment: TimedText, word: TimedText): TimedText => ({
  ...segment,
  text: `${segment.text} ${word.text}`,
  end: word.end,
})

const pad = (value: number, digits: number) => String(value).padStart(digits, '0')

/** `HH:MM:SS,mmm`, with the mark of the fraction that a format has. */
function formatTime(seconds: number, mark: ',' | '.'): string {
  const ms = Math.max(0, Math.round(seconds * 1000))
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60]
  const whole = [hours, minutes, Math.floor(ms / 1000) % 60].map((value) => pad(value, 2)).join(':')
  return `${whole}${mark}${pad(ms % 1000, 3)}`
}

/** A cue's text: a blank line would end it, and an arrow be taken for its times. */
const cueText = ({ text }: TimedText) =>
  text
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('-->', '->')

const times = ({ start, end }: TimedText, mark: ',' | '.') =>
  `${formatTime(start, mark)} --> ${formatTime(end, mark)}`

/** SubRip. */
export const toSrt = ({ segments }: Transcript): string =>
  segments.map((cue, index) => `${index + 1}\n${times(cue, ',')}\n${cueText(cue)}\n\n`).join('')

/** WebVTT. */
export const toVtt = ({ segments }: Transcript): string =>
  `WEBVTT\n\n${segments.map((cue) => `${times(cue, '.')}\n${cueText(cue)}\n\n`).join('')}`

/** Which times a caller wants in `verbose_json`. */
interface VerboseOptions {
  task: 'transcribe' | 'translate'
  words: boolean
  segments: boolean
}

/** OpenAI's `verbose_json`. Fields of Whisper that no other model has are zero. */
export const toVerboseJson = (transcript: Transcript, options: VerboseOptions): JsonObject => ({
  task: options.task,
  language: transcript.language ?? 'unknown',
  duration: transcript.duration ?? transcript.segments.at(-1)?.end ?? 0,
  text: transcript.text,
  ...(options.segments && { segments: transcript.segments.map(toWhisperSegment) }),
  ...(options.words && {
    words: transcript.words.map(({ text: word, start, end }) => ({ word, start, end })),
  }),
})

const toWhisperSegment = ({ text, start, end }: TimedText, id: number) => ({
  id,
  seek: 0,
  start,
  end,
  text,
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 0,
  no_speech_prob: 0,
})

/** OpenAI's `diarized_json`. */
export const toDiarizedJson = (transcript: Transcript): JsonObject => ({
  task: 'transcribe',
  duration: transcript.duration ?? transcript.segments.at(-1)?.end ?? 0,
  text: transcript.text,
  segments: transcript.segments.map(({ text, start, end, speaker = 'A' }, index) => ({
    type: 'transcript.text.segment',
    id: `seg_${index}`,
    start,
    end,
    text,
    speaker,
  })),
})
