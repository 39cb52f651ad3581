import { generateLorem } from './lorem'
import type { TextModel } from './models'

/** What a text is written from. */
export interface ProseOptions {
  /** The caller's words. */
  text: string
  /** Tokens at most; the caller cuts, a model only aims at it. */
  limit: number | undefined
  /** The number of the choice. */
  variant: number
}

/** What each model writes when nothing but words are asked of it. */
export const prose: Record<TextModel, (ask: ProseOptions) => string> = {
  echo: ({ text }) => text,
  lorem: ({ limit, variant }) => generateLorem(limit, variant),
  tools: () => 'There is no tool to call here.',
}
