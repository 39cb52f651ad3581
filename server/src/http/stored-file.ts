import { FormFile } from './form-file'
import type { Uploads } from './upload-directory'
import type { UploadedFile } from '../wire/uploaded-file'

/** A file that is on disk until it is disposed of. */
interface StoredFile extends AsyncDisposable {
  file: UploadedFile
}

interface FileFacts {
  name: string
  type: string
  bytes: number
}

interface Storing {
  uploads: Pick<Uploads, 'budget' | 'directory'>
  /** The account of the sender. */
  owner: string
  /** Aborts when the client has disconnected. */
  signal: AbortSignal
}

/** Each file counts as so much at least, as a form does. */
const minFileBytes = 1 << 20

/**
 * Writes a file that came within a body to disk, as those of forms are, once there is room for it. Rejects as `pieces`
 * does, and with `gateway_unavailable`; then nothing of it remains.
 */
export async function storeFile(
  { bytes, ...facts }: FileFacts,
  pieces: Iterable<Uint8Array>,
  { uploads, owner, signal }: Storing,
): Promise<StoredFile> {
  const share = uploads.budget.open(owner)
  const path = uploads.directory.newPath()
  const file = new FormFile({ path, ...facts })
  const dispose = async () => {
    await file.close().catch(() => undefined)
    await Bun.file(path)
      .delete()
      .catch(() => undefined)
    share.release()
  }
  const write = async () => {
    for (const piece of pieces) {
      file.add(piece)
      await file.flush()
    }
    await file.close()
  }
  const leave = () => share.release()
  signal.addEventListener('abort', leave, { once: true })
  try {
    await share.take(Math.max(minFileBytes, bytes))
    await share.whileReading(write())
    return { file: file.toUploaded(), [Symbol.asyncDispose]: dispose }
  } catch (thrown) {
    await dispose()
    throw thrown
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
