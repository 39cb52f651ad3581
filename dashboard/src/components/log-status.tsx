import { Badge } from '@mantine/core'
import { logColors, type ListedLog } from '../logs'

/** How a request ended; of one that failed with the status that its caller was given. */
export const LogStatus = ({ log }: { log: Pick<ListedLog, 'status' | 'status_code'> }) => (
  <Badge color={logColors[log.status]} variant="light" miw="max-content">
    {log.status === 'error' ? `error ${log.status_code}` : log.status}
  </Badge>
)
