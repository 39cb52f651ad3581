import type { RelayedStream } from './openai/relayed-stream'
import type { SpeechForm } from './speech-form'
import { invalidAnswer, truncatedAnswer, type ErrorSource } from './upstream-error'
import { SoundMeter } from '../wire/sound-meter'
import { usualSampleRate, wavHeader, type SpeechFormat } from '../wire/speech-format'
import { toSpeechDelta, toSpeechDone } from '../wire/speech-writer'
import type { Usage } from '../wire/usage'

/** The facts about its request that a spoken answer needs. */
export interface SpeechFacts {
  form: SpeechForm
  format: SpeechFormat
  source: ErrorSource
  /** The Unicode code points of the text. */
  characters: number
  /** The caller gets events, not bytes. */
  toEvents: boolean
  /** Whether the provider answers with bytes; known once they come. */
  isSound: () => boolean
  /** The usage of so many bytes of sound, which the provider does not report. */
  estimate: (bytes: number) => Usage
}

/** A spoken answer on its way: as bytes, which are binary strings here, or as events. */
export class SpeechStream implements RelayedStream {
  readonly #facts: SpeechFacts
  readonly #meter: SoundMeter
  #bytes = 0
  #usage: Usage | undefined
  #isLast = false

  constructor(facts: SpeechFacts) {
    this.#facts = facts
    this.#meter = new SoundMeter(facts.format)
  }

  next(data: string): string[] {
    const { form, source, isSound } = this.#facts
    if (isSound()) return this.#send(data, usualSampleRate)
    const { sound, sampleRate = usualSampleRate, usage, isLast } = form.read(data, source)
    this.#usage = usage ?? this.#usage
    this.#isLast ||= isLast === true
    return sound === undefined ? [] : this.#send(sound, sampleRate)
  }

  #send(sound: string, sampleRate: number): string[] {
    if (sound === '') return []
    const { form, format, toEvents } = this.#facts
    const isFirst = this.#bytes === 0
    this.#bytes += sound.length
    const headed =
      isFirst && form.needsHeader(format) ? wavHeader(sampleRate).toString('latin1') + sound : sound
    this.#meter.add(headed)
    return [toEvents ? toSpeechDelta(headed) : headed]
  }

  end(sawDone: boolean): string[] {
    const { isSound, source, toEvents } = this.#facts
    if (!this.#isLast && !sawDone && !isSound()) throw truncatedAnswer(source)
    if (this.#bytes === 0) throw invalidAnswer(source.provider, 'an answer without sound')
    return toEvents ? [toSpeechDone(this.usage())] : []
  }

  usage(): Usage {
    const usage = this.#usage ?? this.#facts.estimate(this.#bytes)
    return { ...usage, spokenCharacters: this.#facts.characters, spokenMs: this.#meter.ms }
  }

  hasContent(): boolean {
    return this.#bytes > 0
  }

  isComplete(): boolean {
    return this.#isLast
  }

  get hasOutput(): boolean {
    return this.#bytes > 0
  }

  get isOver(): boolean {
    return this.#isLast
  }
}
