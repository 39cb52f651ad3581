import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client'
import { Confirm } from '../../components/confirm'
import { count } from '../../format/figures'
import { promptsKey, type Prompt } from './queries'

const batchSize = 100

interface Props {
  prompts: readonly Prompt[]
  onDeleted?: () => void
  onClose: () => void
}

/** Deletes prompts after a confirmation, in batches of the size the API accepts. */
export function DeletePrompts({ prompts, onDeleted, onClose }: Props) {
  const queries = useQueryClient()
  const [first] = prompts
  const remove = async () => {
    let ids = prompts.map(({ id }) => id)
    try {
      while (ids.length > 0) {
        const some = { action: 'delete' as const, ids: ids.slice(0, batchSize) }
        await api.POST('/api/user/prompts/bulk', { body: some })
        ids = ids.slice(batchSize)
      }
    } finally {
      await queries.invalidateQueries({ queryKey: promptsKey })
    }
    onDeleted?.()
  }
  return (
    <Confirm
      question={
        prompts.length === 1 && first
          ? `Delete ${first.title}?`
          : `Delete ${count(prompts.length)} prompts?`
      }
      about="This cannot be undone."
      label="Delete"
      onConfirm={remove}
      onClose={onClose}
    />
  )
}
