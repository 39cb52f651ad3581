import type { Starters } from '../subjects/starters'

/** Splits a list of an option at its commas. */
export const listOf = (value: string): string[] => value.split(',').filter(Boolean)

/** Leaves only the named ones of a record; all where none is named. */
export const onlyNamed = (starters: Starters, names: readonly string[]): Starters =>
  names.length === 0
    ? starters
    : Object.fromEntries(Object.entries(starters).filter(([name]) => names.includes(name)))
