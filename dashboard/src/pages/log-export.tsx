import { Alert, Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useEffect, useRef, useState } from 'react'
import { exportLogs, mostExported, type LogSearch, type Progress } from '../logs'
import { shownCount } from '../shown'
import { useSubmit } from '../submit'

interface Props {
  filter: Omit<LogSearch, 'open'>
  isEmpty: boolean
}

/** Saves what fits the filter as a file; how far it is, and a way to stop it. */
export function LogExport({ filter, isEmpty }: Props) {
  const [progress, setProgress] = useState<Progress>()
  const stopping = useRef<AbortController>(undefined)
  useEffect(() => () => stopping.current?.abort(), [])
  const { submit, isBusy, error } = useSubmit(async () => {
    const control = new AbortController()
    stopping.current = control
    try {
      const { signal } = control
      tell(await exportLogs(filter, { signal, onProgress: setProgress }))
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
          Stop: {shownCount(progress.saved)} of {shownCount(progress.total)}
        </Button>
      ) : (
        <Button
          variant="default"
          loading={isBusy}
          disabled={isEmpty}
          title={`At most ${shownCount(mostExported)} rows, the newest ones`}
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

function tell({ saved, total }: Progress): void {
  const message =
    saved < total
      ? `The newest ${shownCount(saved)} of ${shownCount(total)} requests were saved. Narrow the filters for the others.`
      : `${shownCount(saved)} requests were saved.`
  notifications.show({ message })
}
