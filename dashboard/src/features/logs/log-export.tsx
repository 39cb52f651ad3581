import { Alert, Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useEffect, useRef, useState } from 'react'
import { exportLogs, maxExported, type LogSearch, type Progress } from './queries'
import { count, formatCount } from '../../format/figures'
import { useSubmit } from '../../components/use-submit'

interface Props {
  filter: Omit<LogSearch, 'open'>
  isEmpty: boolean
}

/** Exports the filtered logs as a file, with progress and a stop button. */
export function LogExport({ filter, isEmpty }: Props) {
  const [progress, setProgress] = useState<Progress>()
  const stopping = useRef<AbortController>(undefined)
  useEffect(() => () => stopping.current?.abort(), [])
  const { submit, isBusy, error } = useSubmit(async () => {
    const control = new AbortController()
    stopping.current = control
    try {
      const { signal } = control
      notify(await exportLogs(filter, { signal, onProgress: setProgress }))
    } catch (thrown) {
      if (!control.signal.aborted) throw thrown
    } finally {
      setProgress(undefined)
    }
  })
  return (
    <>
      {isBusy && progress ? (
        <Button variant="default" onClick={() => stopping.current?.abort()}>
          Stop: {count(progress.saved)} of {count(progress.total)}
        </Button>
      ) : (
        <Button
          variant="default"
          loading={isBusy}
          disabled={isEmpty}
          title={`At most ${count(maxExported)} rows, the newest ones`}
          onClick={() => void submit(undefined)}
        >
          Export CSV
        </Button>
      )}
      {error && (
        <Alert color="red" role="alert" w="100%">
          {error.message}
        </Alert>
      )}
    </>
  )
}

function notify({ saved, total }: Progress): void {
  const message =
    saved < total
      ? `Saved the newest ${count(saved)} of ${formatCount(total, 'request')}. Narrow the filters to export the others.`
      : `Saved ${formatCount(saved, 'request')}.`
  notifications.show({ message })
}
