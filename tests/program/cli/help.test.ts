import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { tollgate } from './run-cli'

const commands = [
  'start',
  'doctor',
  'migrate',
  'audit',
  'backup',
  'restore',
  'rotate-keys',
  'sign-in-link',
  'users',
  'keys',
  'credits',
  'models',
  'connections',
  'connect',
]

const page = await Bun.file(join(import.meta.dir, '../../../docs/operate/cli.md')).text()

test('the launcher names every command', async () => {
  const { out } = await tollgate(['--help'])
  for (const command of commands) expect(out).toMatch(new RegExp(`\\b${command}\\b`))
})

test.each(commands)(
  'docs/operate/cli.md contains the text of tollgate %s --help, to the letter',
  async (command) => {
    const { out, code } = await tollgate([command, '--help'])
    expect(code).toBe(0)
    expect(page).toContain(`\`\`\`text\n${out}\`\`\`\n`)
  },
)
