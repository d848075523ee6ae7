export function Wordmark() {
  return (
    <svg class="wm" viewBox="0 0 76 20" role="img" aria-label="cairn">
      <path fill="currentColor" d="M10 1.5c1.9 0 3.3.9 3.3 2.2S11.9 5.8 10 5.8 6.7 5 6.7 3.7 8.1 1.5 10 1.5z" opacity=".55" />
      <path fill="currentColor" d="M9.6 7.2c3.1-.1 5.5 1 5.6 2.7.1 1.7-2.2 2.7-5.2 2.7s-5.3-.9-5.3-2.6c0-1.6 2-2.7 4.9-2.8z" opacity=".78" />
      <path fill="currentColor" d="M10.3 14c4.6-.1 7.9.8 7.9 2.5 0 1.6-3.3 2.3-8 2.3s-8.4-.6-8.4-2.2C1.8 15 5.4 14.1 10.3 14z" />
      <g transform="translate(27 7.5)">
        <path
          d="M7.3 2.2A4 4 0 1 0 7.3 7.8M18.5 5A4 4 0 1 1 10.5 5 4 4 0 1 1 18.5 5M18.5 1V9M23.5 1V9M28.5 1V9M28.5 5A4 4 0 0 1 32.3 1.1M36 1V9M36 5A3.75 3.75 0 0 1 43.5 5V9"
          fill="none"
          stroke="currentColor"
          stroke-width="2.1"
          stroke-linecap="round"
          stroke-linejoin="round"
        />
        <circle cx="23.5" cy="-2.3" r="1.35" fill="currentColor" />
      </g>
    </svg>
  );
}
