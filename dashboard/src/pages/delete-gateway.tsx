import { useQueryClient } from '@tanstack/react-query'
import { api } from '../api'
import { Confirm } from '../components/confirm'
import { connectionsQuery } from '../connections'
import { gatewaysQuery, type Gateway } from '../gateways'

interface Props {
  gateway: Pick<Gateway, 'id' | 'name'>
  /** It is gone. */
  onGone?: () => Promise<unknown>
  onClose: () => void
}

/** Asks before a gateway is cut off. */
export function DeleteGateway({ gateway: { id, name }, onGone, onClose }: Props) {
  const queries = useQueryClient()
  const remove = async () => {
    await api.gateways[':id'].$delete({ param: { id } })
    await onGone?.()
    queries.setQueryData(gatewaysQuery.queryKey, (all) => all?.filter((one) => one.id !== id))
    await queries.invalidateQueries(gatewaysQuery)
    await queries.invalidateQueries(connectionsQuery)
  }
  return (
    <Confirm
      question={`Delete ${name}?`}
      about="Its program is cut off within a second, and what it is answering ends. Its token opens nothing any more, its connections become inactive, and sessions with it fail at their next message. Logs stay. It cannot be brought back."
      label="Delete"
      onConfirm={remove}
      onClose={onClose}
    />
  )
}
