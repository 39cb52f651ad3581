import { describe, expect, test } from 'bun:test'
import { rejectRemoteUrls } from './remote-urls'
import { ApiError } from '../errors'
import type { JsonObject } from '../wire/json-body'

const url = 'https://10.0.0.1/a.png'
const data = 'data:image/png;base64,AAAA'
const said = (part: JsonObject): JsonObject => ({ messages: [{ role: 'user', content: [part] }] })
const part = 'messages.0.content.0'
const input = (item: JsonObject): JsonObject => ({ input: [{ role: 'user', content: [item] }] })

function refusalOf(body: JsonObject, fetched?: Map<string, unknown>): unknown {
  try {
    return rejectRemoteUrls(body, fetched)
  } catch (thrown) {
    if (thrown instanceof ApiError) return [thrown.param, thrown.details?.['issue']]
    throw thrown
  }
}

describe('finding S26: a server in the operator’s network fetches nothing for a caller', () => {
  test.each<[string, JsonObject]>([
    [`${part}.image_url.url`, said({ type: 'image_url', image_url: { url } })],
    [`${part}.image_url`, said({ type: 'image_url', image_url: url })],
    [`${part}.image_url.url`, said({ type: 'image_url', image_url: { url: '//10.0.0.1/a' } })],
    [`${part}.video_url.url`, said({ type: 'video_url', video_url: { url } })],
    [`${part}.audio_url.url`, said({ type: 'audio_url', audio_url: { url } })],
    [`${part}.file.file_data`, said({ type: 'file', file: { file_data: url } })],
    [`${part}.file.file_id`, said({ type: 'file', file: { file_id: url } })],
    [`${part}.file.file_url`, said({ type: 'file', file: { file_url: url } })],
    [`${part}.source.url`, said({ type: 'image', source: { type: 'url', url } })],
    [
      `${part}.content.0.source.url`,
      said({ type: 'tool_result', content: [{ type: 'image', source: { type: 'url', url } }] }),
    ],
    ['system.0.source.url', { system: [{ type: 'document', source: { type: 'url', url } }] }],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url }] }],
    ['input.0.content.0.image_url', input({ type: 'input_image', image_url: url })],
    ['input.0.content.0.file_url', input({ type: 'input_file', file_url: url })],
    [
      'input.0.output.0.image_url',
      { input: [{ type: 'function_call_output', output: [{ image_url: url }] }] },
    ],
    ['tools.0.server_url', { tools: [{ type: 'mcp', server_url: url }] }],
    ['input.0.image', { input: [{ image: url }] }],
    [
      'inputs.0.content.0.image_url',
      { inputs: [{ content: [{ type: 'image_url', image_url: url }] }] },
    ],
  ])('%s', (param, body) => {
    expect(refusalOf(body)).toEqual([param, 'not_allowed'])
  })

  test.each<[string, JsonObject]>([
    ['text', { messages: [{ role: 'user', content: `See ${url}` }] }],
    ['data', said({ type: 'image_url', image_url: { url: data } })],
    ['the content of a file', said({ type: 'file', file: { file_data: 'JVBERi0=' } })],
    ['data of a message', said({ type: 'image', source: { type: 'base64', data: 'AAAA' } })],
    ['data of a Response', input({ type: 'input_image', image_url: data })],
    ['an argument of a call', said({ type: 'tool_use', input: { image_url: url } })],
    ['a schema', { tools: [{ function: { parameters: { properties: { image_url: { url } } } } }] }],
    ['a text to embed', { input: [url] }],
  ])('%s passes', (_what, body) => {
    expect(refusalOf(body)).toBeUndefined()
  })

  test('documents that Tollgate fetched pass', () => {
    const body = said({ type: 'image_url', image_url: { url } })
    expect(refusalOf(body, new Map([[url, {}]]))).toBeUndefined()
    expect(refusalOf(body, new Map([['https://a.example/b', {}]]))).not.toBeUndefined()
  })
})
