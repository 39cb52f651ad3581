import type { Operator } from './server'

/** An option: with a value where `value` names it. */
export interface Option {
  value?: string
  about: string
}

/** What a command says: for people, and the same for programs. */
export interface Answer {
  text: string
  json: unknown
}

export interface Asked {
  operator: Operator
  words: readonly string[]
  /** The value of an option, undefined where it was not given. */
  value: (name: string) => string | undefined
  has: (name: string) => boolean
  /** A secret, from a terminal without showing it, else the first line of the input. */
  secret: (question: string) => Promise<string>
  /** Throws unless somebody at a terminal says yes, or `--yes` was given. */
  confirm: (question: string) => Promise<void>
  progress: (line: string) => void
}

export interface Verb {
  /** What stands behind the verb, all of it. */
  words: readonly string[]
  about: string
  options?: Readonly<Record<string, Option>>
  run: (asked: Asked) => Promise<Answer>
}

export interface Group {
  name: string
  about: string
  verbs: Readonly<Record<string, Verb>>
}
