import {
  Alert,
  Badge,
  createTheme,
  Drawer,
  Modal,
  Notification,
  type CSSVariablesResolver,
  type MantineColorsTuple,
} from '@mantine/core'

const brand: MantineColorsTuple = [
  '#e3fafc',
  '#c5f0f4',
  '#99e1e8',
  '#66d0da',
  '#3bbfcc',
  '#1ca9b8',
  '#1098ad',
  '#0b7285',
  '#095c6b',
  '#064854',
]

/** The close button has no accessible name by default. */
const closable = { closeButtonProps: { 'aria-label': 'Close' } }

export const theme = createTheme({
  colors: { brand },
  primaryColor: 'brand',
  primaryShade: 7,
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontWeight: '600' },
  components: {
    // In the alert's color the title has too little contrast.
    Alert: Alert.extend({ styles: { title: { color: 'var(--mantine-color-text)' } } }),
    // Badges are never truncated; the text beside them wraps.
    Badge: Badge.extend({
      styles: { root: { textTransform: 'none', flexShrink: 0, maxWidth: '100%' } },
    }),
    Drawer: Drawer.extend({ defaultProps: closable }),
    // A click beside a dialog would discard what was typed in it.
    Modal: Modal.extend({ defaultProps: { ...closable, closeOnClickOutside: false } }),
    // Beside a title the message has too little contrast.
    Notification: Notification.extend({
      defaultProps: closable,
      styles: { description: { color: 'var(--mantine-color-text)' } },
    }),
  },
})

/** The default colors have too little contrast on a badge's light background. */
const readableOnLight = {
  '--mantine-color-green-light-color': '#1e6b2f',
  '--mantine-color-yellow-light-color': '#7a4a00',
  '--mantine-color-orange-light-color': '#9c3000',
  '--mantine-color-teal-light-color': '#05674c',
  '--mantine-color-lime-light-color': '#44660b',
}

/** White text has too little contrast on the default red. */
const readableOnRed = {
  '--mantine-color-red-filled': 'var(--mantine-color-red-9)',
  '--mantine-color-red-filled-hover': '#b02525',
}

/** All text has a contrast of at least 4.5 to 1, including dimmed text and errors. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...readableOnLight,
    ...readableOnRed,
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
  },
  dark: {
    ...readableOnRed,
    // The default is almost white: actions that delete would look like all others.
    '--mantine-color-red-light-color': 'var(--mantine-color-red-3)',
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
  },
})
