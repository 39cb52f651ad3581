import type { Operator } from './server'

/** An option: with a value where `value` names it. */
export interface Option {
  value?: string
  about: string
}

/** The output of a command: as text, and as JSON. */
export interface Answer {
  text: string
  json: unknown
}

/** One call of a command, with its arguments and options. */
export interface Invocation {
  operator: Operator
  positionals: readonly string[]
  /** The value of an option, undefined where it was not given. */
  value: (name: string) => string | undefined
  has: (name: string) => boolean
  /** Reads a secret: at a terminal without echo, else the first line of standard input. */
  secret: (prompt: string) => Promise<string>
  /** Throws unless the operator confirms at a terminal, or passed `--yes`. */
  confirm: (prompt: string) => Promise<void>
  progress: (line: string) => void
}

export interface Verb {
  /** The positional arguments, all of them required. */
  positionals: readonly string[]
  about: string
  options?: Readonly<Record<string, Option>>
  /** The maximum duration of each request, where the default is too short. */
  timeoutMs?: number
  run: (invocation: Invocation) => Promise<Answer>
}

export interface Group {
  name: string
  about: string
  verbs: Readonly<Record<string, Verb>>
}
