import type { RequestRow } from '../../conformance/conformance'

const text = (content: string) => ({ type: 'text', text: content })
const toMessage = (role: string, ...content: object[]) => ({ role, content })
const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
const base64 = (media_type: string, data: string) => ({ type: 'base64', media_type, data })
const file = (file_data: string, filename?: string) => ({
  type: 'file',
  file: { file_data, filename },
})
const pdf = 'JVBERi0='

export const mediaRequests: readonly RequestRow[] = [
  {
    title: 'media: images as data and as address',
    chat: user(
      text('What is this?'),
      { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,/9j/', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
    ),
    body: {
      messages: [
        toMessage(
          'user',
          text('What is this?'),
          { type: 'image', source: base64('image/jpeg', '/9j/') },
          { type: 'image', source: { type: 'url', url: 'https://example.com/cat.png' } },
        ),
      ],
    },
  },
  {
    title: 'media: files of PDF, text and image',
    chat: user(
      file(`data:application/pdf;base64,${pdf}`, 'a.pdf'),
      file('data:text/plain;charset=utf-8;base64,w6RoZW0='),
      file('data:image/png;base64,iVBO'),
    ),
    body: {
      messages: [
        toMessage(
          'user',
          { type: 'document', source: base64('application/pdf', pdf), title: 'a.pdf' },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'ähem' } },
          { type: 'image', source: base64('image/png', 'iVBO') },
        ),
      ],
    },
  },
  {
    title: 'media: sound',
    chat: user(text('Hear'), { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } }),
    refused: { param: 'messages.0.content.1', issue: 'unsupported_by_model' },
  },
  {
    title: 'media: an answer that is spoken',
    chat: { modalities: ['text', 'audio'] },
    refused: { param: 'modalities', issue: 'unsupported_by_model' },
  },
  {
    title: 'media: a voice that the model cannot hear',
    chat: { modalities: ['text'], audio: { voice: 'a' } },
  },
  {
    title: 'media: a file that is somewhere else',
    chat: user({ type: 'file', file: { file_id: 'file-1' } }),
    refused: { param: 'messages.0.content.0.file.file_id', issue: 'unsupported_by_model' },
  },
  {
    title: 'media: a file of a kind that is not read',
    chat: user(file('data:application/zip;base64,UEsD')),
    refused: { param: 'messages.0.content.0.file.file_data', issue: 'unsupported_by_model' },
  },
  {
    title: 'media: a file that is no data URL',
    chat: user(file('JVBERi0=')),
    refused: { param: 'messages.0.content.0.file.file_data', issue: 'bad_format' },
  },
  {
    title: 'media: images in instructions',
    chat: {
      messages: [
        { role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://a.b/c' } }] },
      ],
    },
    refused: { param: 'messages.0.content.0', issue: 'unsupported_by_model' },
  },
]
