import { UsageError } from './server'

/** Parses an option as one of its choices. Throws `UsageError`. */
export function choiceOf<Choice extends string>(
  name: string,
  text: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((one) => one === text)
  if (choice !== undefined) return choice
  throw new UsageError(`--${name} must be one of ${choices.join(', ')}, not "${text}".`)
}
