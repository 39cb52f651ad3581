import { parseArgs } from 'node:util'
import { formatArgumentError } from '@tollgate/server/server/argument-error'
import { guardOutput } from '@tollgate/server/server/command-output'
import { connections } from './connections'
import { credits } from './credits'
import { commonOptions, helpOf } from './help'
import { confirmed, readSecret } from './input'
import { keys } from './keys'
import { models } from './models'
import { openOperator, CallFailed, UsageError } from './server'
import { users } from './users'
import type { Group, Verb } from './verb'

const groups: readonly Group[] = [users, keys, credits, models, connections]

function read(args: string[], verb: Verb | undefined, seeHelp: string) {
  const options = Object.fromEntries(
    Object.entries({ ...commonOptions, ...verb?.options }).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (thrown) {
    throw new UsageError(`${formatArgumentError(thrown)} ${seeHelp}`)
  }
}

const isHelpRequested = (args: readonly string[]) =>
  args.length === 0 || args.includes('--help') || args.includes('-h') || args[0] === 'help'

async function run(group: Group, [name = '', ...args]: string[]): Promise<void> {
  const verb = Object.hasOwn(group.verbs, name) ? group.verbs[name] : undefined
  const seeHelp = `See tollgate ${group.name} --help.`
  if (!verb) throw new UsageError(`There is no command "${group.name} ${name}". ${seeHelp}`)
  const { values, positionals } = read(args, verb, seeHelp)
  if (positionals.length !== verb.positionals.length) {
    const usage = [
      group.name,
      name,
      ...verb.positionals.map((positional) => `<${positional}>`),
    ].join(' ')
    throw new UsageError(`Usage: "tollgate ${usage}". ${seeHelp}`)
  }
  const value = (option: string) => {
    const text = values[option]
    return typeof text === 'string' ? text : undefined
  }
  const has = (option: string) => values[option] === true
  const showsProgress = has('progress') || process.stderr.isTTY
  const answer = await verb.run({
    operator: await openOperator(value('url'), process.env, verb.timeoutMs),
    positionals,
    value,
    has,
    secret: readSecret,
    confirm: async (prompt) => (has('yes') ? undefined : confirmed(prompt)),
    progress: (line) => void (showsProgress && process.stderr.write(`${line}\n`)),
  })
  process.stdout.write(has('json') ? `${JSON.stringify(answer.json)}\n` : answer.text)
}

async function main([name = '', ...args]: string[]): Promise<void> {
  guardOutput()
  const group = groups.find((one) => one.name === name)
  if (!group) throw new UsageError(`There is no command "${name}". See tollgate --help.`)
  if (isHelpRequested(args)) process.stdout.write(helpOf(group))
  else await run(group, args)
}

try {
  await main(process.argv.slice(2))
} catch (thrown) {
  const isKnown = thrown instanceof CallFailed || thrown instanceof UsageError
  console.error(isKnown ? `tollgate: ${thrown.message}` : thrown)
  process.exitCode = thrown instanceof UsageError ? 2 : 1
}
