import { useNetwork } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useEffect, useEffectEvent, useState, type ComponentType, type ReactNode } from 'react'

/**
 * A part of a page, such as a dialog or a chart, whose code loads when it is first shown. If that fails a notification says
 * so and the part closes, where it can; it loads when the browser is online again, or when it is shown the next time.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  placeholder?: ReactNode,
) {
  let loaded: ComponentType<Props> | undefined
  return function Part(props: Props) {
    const [Content, setContent] = useState(() => loaded)
    const { online } = useNetwork()
    const fail = useEffectEvent(() => {
      const message = 'The service cannot be reached. Check your connection and try again.'
      notifications.show({ message, color: 'red' })
      if ('onClose' in props && typeof props.onClose === 'function') props.onClose()
    })
    useEffect(() => {
      if (loaded) return
      load().then((component) => {
        loaded = component
        setContent(() => component)
      }, fail)
    }, [online])
    return Content ? <Content {...props} /> : placeholder
  }
}
