import type { PromptSize } from './size'
import type { Model } from '../catalog/model'

/** What a request is thought to need before its answer is there. */
export interface TokenNeed {
  promptTokens: number
  /** How many answers are written, each as long as the output limit allows. */
  answers: number
}

/** Reserved for an answer without a limit; what it really takes is counted when it is there. */
const usualAnswer = 1024

/** Tokens to reserve for a request: its prompt, and all it may write. Source: contract 3.1. */
export function tokensNeeded(
  { promptTokens, answers }: TokenNeed,
  { output }: Pick<PromptSize, 'output'>,
  { maxOutputTokens }: Pick<Model, 'maxOutputTokens'>,
): number {
  const each = output?.limit ?? Math.min(usualAnswer, maxOutputTokens ?? usualAnswer)
  return promptTokens + answers * each
}
