import type { Schemas } from '../../api/client'

type Budget = Schemas['Budget']

/** The bounds that the API has. */
const maxPercents = 10
const maxPercentOf: Readonly<Record<Budget['enforcement'], number>> = { hard: 100, soft: 1000 }

/** The percents of a new budget. One that rejects requests seldom uses the last of its amount. */
export const usualPercents: Readonly<Record<Budget['enforcement'], string>> = {
  hard: '80, 95',
  soft: '80, 100',
}

/** Formats percents for the form. */
export const formatPercents = (percents: readonly number[]): string => percents.join(', ')

const partsOf = (text: string) => text.split(/[\s,;%]+/).filter((part) => part !== '')

/** Parses percents as they are entered: `80, 95` or `80% 95%`. */
export const parsePercents = (text: string): number[] => partsOf(text).map(Number)

/** Finds the reason why a budget cannot have these percents; null for none. */
export function findPercentsFault(
  text: string,
  { enforcement }: Pick<Budget, 'enforcement'>,
): string | null {
  const parts = partsOf(text)
  const max = maxPercentOf[enforcement]
  if (!parts.every((part) => /^\d+$/.test(part)))
    return 'Enter whole percents with commas between them.'
  if (parts.length > maxPercents) return `Enter at most ${maxPercents} percents.`
  if (parts.every((part) => Number(part) >= 1 && Number(part) <= max)) return null
  return enforcement === 'hard'
    ? `Enter percents from 1 to ${max}: only a budget that rejects nothing can use more.`
    : `Enter percents from 1 to ${max}.`
}

/** The positions of the marks of a budget's bar, and its filled part: percentages of its length. */
export interface BarScale {
  filled: number
  marks: { percent: number; position: number }[]
}

const whole = 100

/** Scales a bar, so that its end is the amount, or the highest percent above it. */
export function scaleBar(share: number, percents: readonly number[]): BarScale {
  const end = Math.max(whole, ...percents)
  // The amount itself has a mark where the bar goes beyond it.
  const marked = end > whole ? new Set([...percents, whole]) : new Set(percents)
  const toPosition = (percent: number) => (whole * percent) / end
  return {
    filled: toPosition(Math.min(share, end)),
    marks: [...marked]
      .toSorted((one, other) => one - other)
      .map((percent) => ({ percent, position: toPosition(percent) })),
  }
}
