import type { Socket } from 'bun'
import { Answer } from './answer'
import { formOf } from './form'

/** A transcription whose sound is shared by many: nothing of it is copied. */
export interface Upload {
  port: number
  key: string
  model: string
  sound: Buffer
}

/** Sends one, and resolves with the status of its answer once that is complete; 0 where the connection closed. */
export async function sendUpload({ port, key, model, sound }: Upload): Promise<number> {
  const form = formOf({ model }, 'talk.wav')
  const bytes = form.before.length + sound.length + form.after.length
  const head =
    `POST /v1/audio/transcriptions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\n` +
    `content-type: ${form.type}\r\ncontent-length: ${bytes}\r\nconnection: close\r\n\r\n`
  const unsent = [Buffer.from(head + form.before), sound, Buffer.from(form.after)]
  const { promise, resolve } = Promise.withResolvers<number>()
  const answer = new Answer()
  const send = (socket: Socket) => {
    for (let piece = unsent[0]; piece; piece = unsent[0]) {
      const sent = Math.max(0, socket.write(piece))
      if (sent < piece.length) {
        unsent[0] = piece.subarray(sent)
        return
      }
      unsent.shift()
    }
  }
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open: send,
      drain: send,
      data: (_socket, piece) => {
        if (answer.take(piece) === 'whole') resolve(answer.status)
      },
      close: () => resolve(0),
      error: () => resolve(0),
    },
  })
  const status = await promise
  socket.end()
  return status
}
