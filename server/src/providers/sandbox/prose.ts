import { generateLorem } from './lorem'
import type { TextModel } from './models'

/** The inputs of a text. */
export interface ProseOptions {
  /** The caller's words. */
  text: string
  /** Tokens at most; the caller cuts, a model only aims at it. */
  limit: number | undefined
  /** The number of the choice. */
  variant: number
}

/** The text of each model where the request has nothing but words. */
export const prose: Record<TextModel, (options: ProseOptions) => string> = {
  echo: ({ text }) => text,
  lorem: ({ limit, variant }) => generateLorem(limit, variant),
  tools: () => 'There is no tool to call.',
}
