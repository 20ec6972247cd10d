// Shows the page anew while what it shows goes on.
setTimeout(() => location.reload(), 1000);
