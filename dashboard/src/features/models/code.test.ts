import { describe, expect, test } from 'bun:test'
import { examplesOf } from './code'

const base = 'http://localhost:8080/v1'

const namesOf = (category: Parameters<typeof examplesOf>[0]['category']) =>
  examplesOf({ base, model: 'acme/one', category }).map(({ name }) => name)

describe('the code of a request', () => {
  test.each([
    ['chat', '/chat/completions', 'messages'],
    ['completion', '/completions', 'prompt'],
    ['embedding', '/embeddings', 'input'],
    ['moderation', '/moderations', 'input'],
    ['rerank', '/rerank', 'documents'],
    ['image', '/images/generations', 'prompt'],
    ['speech', '/audio/speech', 'voice'],
    ['transcription', '/audio/transcriptions', 'file'],
  ] as const)('for %s names the model, the endpoint and the key in every language', (...row) => {
    const [category, path, field] = row
    for (const { name, text } of examplesOf({ base, model: 'acme/one', category })) {
      expect(text).toContain('acme/one')
      expect(text).toContain('TOLLGATE_KEY')
      expect(text).toContain(field)
      const isClient = name === 'Python' || name === 'TypeScript'
      expect(text).toContain(isClient ? base : `${base}${path}`)
    }
  })

  test('is left out in languages in which it would be long', () => {
    expect(namesOf('chat')).toEqual(['curl', 'Python', 'TypeScript', 'Go', 'Java'])
    expect(namesOf('speech')).toEqual(['curl', 'Python', 'TypeScript', 'Go', 'Java'])
    expect(namesOf('transcription')).toEqual(['curl', 'Python', 'TypeScript', 'Go'])
  })

  test('saves speech, and sends a recording as a form', () => {
    for (const { text } of examplesOf({ base, model: 'acme/one', category: 'speech' }))
      expect(text).toContain('speech.mp3')
    const [curl] = examplesOf({ base, model: "acme/it's @one", category: 'transcription' })
    expect(curl?.text).toContain('-F file=@speech.mp3')
    // The value of `-F` would be the name of a file if it began with `@`.
    const [, data = ''] = curl?.text.match(/--form-string (.*) \\/) ?? []
    const { stdout } = Bun.spawnSync(['sh', '-c', `printf %s ${data}`])
    expect(stdout.toString()).toBe("model=acme/it's @one")
  })

  test('keeps a model whose id has quotes inside its text', async () => {
    const model = `acme/it's "one"`
    for (const { name, text } of examplesOf({ base, model, category: 'chat' })) {
      if (name === 'curl') {
        const [, data = ''] = text.split(' -d ')
        const { stdout } = Bun.spawnSync(['sh', '-c', `printf %s ${data}`])
        expect(JSON.parse(stdout.toString())).toMatchObject({ model })
      } else if (name === 'Go' || name === 'Java') {
        const [line = ''] = /"\{.*\}"/.exec(text) ?? []
        expect(JSON.parse(JSON.parse(line))).toMatchObject({ model })
      } else expect(text).toContain(JSON.stringify(model))
    }
  })
})
