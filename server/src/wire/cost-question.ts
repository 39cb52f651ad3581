/** The fields that hold a request's text, one for each endpoint. */
export const textFields = ['messages', 'prompt', 'input'] as const

export type TextField = (typeof textFields)[number]

/** The input of an estimate of costs: numbers of tokens, or a request as the gateway would hold credit for it. */
export interface CostQuestion {
  model: string
  size: { input: number; output: number } | { field: TextField; value: unknown; limit?: number }
}
