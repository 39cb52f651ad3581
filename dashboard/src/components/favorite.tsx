import { ActionIcon } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useState } from 'react'

interface Props {
  /** The name of the item. */
  name: string
  isOn: boolean
  onChange: (isOn: boolean) => Promise<unknown>
}

/** A favorite button that is on or off. */
export function FavoriteStar({ name, isOn, onChange }: Props) {
  const [isBusy, setBusy] = useState(false)
  const press = async () => {
    setBusy(true)
    try {
      await onChange(!isOn)
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown)
      notifications.show({ title: name, message, color: 'red' })
    } finally {
      setBusy(false)
    }
  }
  return (
    <ActionIcon
      variant="subtle"
      color={isOn ? 'yellow.7' : 'gray'}
      aria-pressed={isOn}
      aria-label={`Favorite: ${name}`}
      disabled={isBusy}
      onClick={() => void press()}
    >
      {isOn ? '★' : '☆'}
    </ActionIcon>
  )
}
