import { Button, VisuallyHidden } from '@mantine/core'
import { formatCount } from '../format/figures'

interface Props {
  isBusy: boolean
  /** The number of items that a refresh would add; `max` stands for that many or more. */
  newCount: number
  max: number
  /** One item. */
  noun: string
  onRefresh: () => void
}

/** Loads a list again; says how many items are new since, so that the list does not move while it is read. */
export function RefreshButton({ isBusy, newCount, max, noun, onRefresh }: Props) {
  const text =
    newCount >= max ? `${max} or more new ${noun}s` : formatCount(newCount, `new ${noun}`)
  return (
    <>
      <VisuallyHidden role="status">{newCount > 0 && text}</VisuallyHidden>
      <Button variant={newCount > 0 ? 'filled' : 'default'} loading={isBusy} onClick={onRefresh}>
        {newCount > 0 ? `Show ${text}` : 'Refresh'}
      </Button>
    </>
  )
}
