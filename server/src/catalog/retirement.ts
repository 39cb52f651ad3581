import type { Model } from './model'

/** Whether the day on which a model's provider switches it off has come; calls go on to the provider. */
export const isRetired = ({ deprecatedAt }: Pick<Model, 'deprecatedAt'>, nowMs: number): boolean =>
  deprecatedAt !== null && deprecatedAt * 1000 <= nowMs
