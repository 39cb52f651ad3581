import { expect, test } from 'bun:test'
import { z } from 'zod'
import { type Block, readPages } from './pages'
import { createFixture, runOn } from './fixture'
import { forFile } from '../harness/for-file'

// Programs that are not installed here: what their pages have them set is read, and what they would send
// with it is sent.
const pages = await readPages()
const fixture = forFile(createFixture, async (opened) => opened[Symbol.asyncDispose]())

/** The blocks of a guide in one language, in their order. */
const blocksOf = (guide: string, language: string) =>
  pages
    .filter(({ path }) => path === `docs/guides/${guide}.md`)
    .flatMap(({ blocks }) => blocks.filter((block) => block.language === language))

/** The variables that a block sets. */
async function setBy(block: Block | undefined): Promise<Record<string, string>> {
  const script = `${block ? fixture().here(block) : ''}\nenv -0`
  const { code, output } = await runOn(fixture(), ['bash', '-c', script])
  expect(code).toBe(0)
  return Object.fromEntries(
    output.split('\0').flatMap((line) => {
      const at = line.indexOf('=')
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : []
    }),
  )
}

async function post(url: string, key: string | undefined, body: object): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  expect([response.status, text]).toEqual([200, text])
  return text
}

const messages = [{ role: 'user', content: 'Hello!' }]

const CodexSettings = z.object({
  model: z.string(),
  model_provider: z.string(),
  model_context_window: z.int(),
  model_providers: z.record(
    z.string(),
    z.object({ base_url: z.url(), env_key: z.string(), wire_api: z.literal('responses') }),
  ),
})

const Lengths = z.object({ context_length: z.int(), max_input_tokens: z.int().nullable() })

test('codex.md: its provider answers in the format that Codex uses', async () => {
  const [file] = blocksOf('codex', 'toml')
  const [shell] = blocksOf('codex', 'sh')
  const settings = CodexSettings.parse(Bun.TOML.parse(file ? fixture().here(file) : ''))
  const { base_url, env_key, wire_api } = settings.model_providers[settings.model_provider] ?? {}
  const environment = await setBy(shell && { ...shell, code: shell.code.replace(/^codex$/m, '') })
  const answer = await post(`${base_url}/${wire_api}`, environment[env_key ?? ''], {
    model: 'sandbox/echo',
    instructions: 'Be brief.',
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello!' }] }],
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
  })
  expect(answer).toContain('"type":"response.completed"')
  const { BASE, KEY } = fixture().environment
  const known = await fetch(`${BASE}/api/models/${settings.model}`, {
    headers: { authorization: `Bearer ${KEY}` },
  })
  const { context_length: context, max_input_tokens: prompt } = Lengths.parse(await known.json())
  // Codex shortens a conversation by this length: it must be that of a prompt.
  expect(settings.model_context_window).toBe(prompt ?? context)
})

const ofClaude = blocksOf('claude-code', 'sh').filter(({ code }) => code.includes('export'))

/** The names that Claude Code sends where no others are set. */
const namesOfClaude = {
  ANTHROPIC_MODEL: 'claude-sonnet-5',
  ANTHROPIC_DEFAULT_HAIKU_MODEL: 'claude-haiku-4-5',
}

test.each(ofClaude.map((block) => [`line ${block.line}`, block] as const))(
  'claude-code.md, %s: both models answer in the format that Claude Code uses',
  async (_line, block) => {
    const [address] = ofClaude
    const environment: Record<string, string | undefined> = {
      ...namesOfClaude,
      ...(await setBy(address)),
      ...(await setBy(block)),
    }
    const { ANTHROPIC_BASE_URL, ANTHROPIC_AUTH_TOKEN, CLAUDE_CODE_MAX_OUTPUT_TOKENS } = environment
    for (const name of ['ANTHROPIC_MODEL', 'ANTHROPIC_DEFAULT_HAIKU_MODEL'] as const) {
      const answer = await post(
        `${ANTHROPIC_BASE_URL}/v1/messages?beta=true`,
        ANTHROPIC_AUTH_TOKEN,
        {
          model: environment[name],
          // What Claude Code asks for of a model that it does not know.
          max_tokens: Number(CLAUDE_CODE_MAX_OUTPUT_TOKENS ?? 32_000),
          stream: true,
          messages,
        },
      )
      expect(answer).toContain('event: message_stop')
    }
  },
)

test('claude-code.md: the file of settings matches the shell', async () => {
  const [file] = blocksOf('claude-code', 'json')
  const { env }: { env: Record<string, string> } = JSON.parse(file ? fixture().here(file) : '')
  const [address, models] = ofClaude
  const shell = { ...(await setBy(address)), ...(await setBy(models)) }
  expect(shell).toMatchObject({ ...env, ANTHROPIC_AUTH_TOKEN: fixture().environment['KEY'] ?? '' })
})

test('aider.md: the model arrives as it is called here', async () => {
  const [variables, command] = blocksOf('aider', 'sh')
  const environment = await setBy(variables)
  const [, model] = /--model openai\/(\S+)/.exec(command?.code ?? '') ?? []
  const url = `${environment['OPENAI_API_BASE']}/chat/completions`
  const answer = await post(url, environment['OPENAI_API_KEY'], { model, messages })
  expect(answer).toContain(`"model":"${model}"`)
})

const Compose = z.object({
  services: z.record(z.string(), z.object({ environment: z.record(z.string(), z.string()) })),
})

test('open-webui.md: its connection lists models', async () => {
  const [file] = blocksOf('open-webui', 'yaml')
  const { BASE = '', KEY } = fixture().environment
  const { services } = Compose.parse(Bun.YAML.parse(file?.code ?? ''))
  // Only a container knows that name of this machine.
  const url = services['open-webui']?.environment['OPENAI_API_BASE_URL']?.replace(
    'http://host.docker.internal:8080',
    BASE,
  )
  const listed = await fetch(`${url}/models`, { headers: { authorization: `Bearer ${KEY}` } })
  expect(await listed.text()).toContain('"id":"sandbox/echo"')
})
